package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/internal/logging"
	"plantstore/internal/operate"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

func newImport(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "import",
		Usage:     "import plants from files or from stdin",
		ArgsUsage: "FILE...",
		Description: "Reads JSON Lines or a JSON array, or CSV if FILE ends in .csv; - is stdin. Reports and skips each\n" +
			"line that POST /plants would refuse. Skips plants that already exist, so you can repeat an\n" +
			"interrupted import. Stores each batch completely or not at all.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused or not a supported format, 3 found bad lines.\n" +
			"Examples:\n" +
			"  plantstore plants import --dry-run plants.jsonl\n" +
			"  zcat plants.csv.gz | plantstore plants import --format csv --on-conflict skip -",
		Flags: append(storeFlags(p,
			choiceFlag("format", "`FORMAT` of the files: jsonl, json (an array) or csv (default: by file name)", "", "jsonl", "json", "csv"),
			choiceFlag("on-conflict", "`ACTION` if a different plant has the id: error (a bad line) or skip", "error", "error", "skip"),
			&cli.BoolFlag{Name: "dry-run", Usage: "report the result without storing anything", HideDefault: true},
			jsonFlag(), quietFlag(),
		), optionFlags(p, "MAX_BODY_BYTES")...),
		ArgValidator: arguments(1, math.MaxInt),
		Action:       configured(p, runImport),
	}
}

func runImport(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	i := &importer{p: p, cmd: cmd, maxBytes: c.MaxBodyBytes, dryRun: cmd.Bool("dry-run")}
	i.SkipConflicts = chosen(cmd, "on-conflict") == "skip"
	for _, file := range cmd.Args().Slice() { // before the first one is imported
		if err := i.check(file); err != nil {
			return err
		}
	}
	creates, err := createsDatabase(c)
	if err != nil {
		return err
	}
	err = withStore(ctx, c, storage.Options{ReadOnly: i.dryRun}, func(ctx context.Context, store app.Store) error {
		client, served := store.(*operate.Client)
		switch {
		case served && client.Info().Ephemeral:
			fmt.Fprintf(p.Stderr, "%s: the server on %s runs with --ephemeral: its plants are deleted when it exits\n", p.Name, c.Storage.Path)
		case creates && !cmd.Bool("quiet"):
			fmt.Fprintf(p.Stderr, "%s: created database %s\n", p.Name, c.Storage.Path)
		}
		if served {
			i.maxBytes = min(i.maxBytes, cmp.Or(client.Info().MaxBodyBytes, i.maxBytes)) // one of another version may not report it
		}
		i.Create = store.CreateAll
		if i.dryRun {
			i.Create = plantio.DryRun(store.DryRun)
		}
		return i.importAll(ctx)
	})
	if i.dryRun && creates && i.Create == nil && errors.Is(err, fs.ErrNotExist) {
		if !cmd.Bool("quiet") {
			fmt.Fprintf(p.Stderr, "%s: would create database %s\n", p.Name, c.Storage.Path)
		}
		i.Create = plantio.DryRun(func(_ context.Context, records []storage.Record) []error { return make([]error, len(records)) })
		return i.importAll(ctx)
	}
	return err
}

// createsDatabase reports whether an import creates the database. Its path may be misspelled: only the
// directory of the default one is created with it.
func createsDatabase(c *config.Config) (bool, error) {
	path := c.Storage.Path
	if path == "" {
		return false, nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	dir := filepath.Dir(path)
	if _, err := os.Stat(dir); c.Storage.URL != config.DefaultStorageURL && errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("there is no directory %s for the database: create it, or correct --storage-url", dir)
	}
	return true, nil
}

// An importer imports the files of a command, and reports bad lines.
type importer struct {
	plantio.Importer

	p        *Process
	cmd      *cli.Command
	maxBytes int64
	dryRun   bool
	reported int64 // bad lines, printed or not
}

func (i *importer) importAll(ctx context.Context) error {
	for _, file := range i.cmd.Args().Slice() {
		if err := i.importFile(ctx, file); err != nil {
			return err
		}
	}
	did, bad := "imported", counted(i.Summary.Bad, "bad line was", "bad lines were")
	if i.dryRun {
		did, bad = "would be imported", counted(i.Summary.Bad, "bad line would be", "bad lines would be")
	}
	err := printResult(i.p.Stdout, i.cmd, i.Summary, "%s %s, %d existed already, %d skipped (id taken), %s",
		counted(i.Summary.Created, "plant", "plants"), did, i.Summary.Identical, i.Summary.Skipped, counted(i.Summary.Bad, "bad line", "bad lines"))
	if err != nil || i.Summary.Bad == 0 {
		return err
	}
	advice := ""
	if i.Summary.Conflicts > 0 {
		advice = ", or skip taken ids with --on-conflict skip"
	}
	return findings("%s left out: fix the file and import it again%s", bad, advice)
}

// check checks the beginning of a file, unless it is stdin or a pipe, which can be read only once.
func (i *importer) check(name string) error {
	info, err := os.Stat(name)
	if name == standardStream || err == nil && !info.Mode().IsRegular() {
		return nil
	}
	file, err := os.Open(name)
	if err != nil {
		return openError(name, err)
	}
	defer func() { _ = file.Close() }()             // only read
	in := io.NewSectionReader(file, 0, info.Size()) // leaves the offset, which /dev/stdin may share
	return i.failure(name, plantio.NewReader(in, fileFormat(i.cmd, name), i.maxBytes).Open())
}

func (i *importer) importFile(ctx context.Context, name string) error {
	in, bar := i.p.Stdin, newProgress(i.p, i.cmd, -1)
	if name != standardStream {
		file, err := os.Open(name)
		if err != nil {
			return openError(name, err)
		}
		defer func() { _ = file.Close() }() // only read
		in = file
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			bar = newProgress(i.p, i.cmd, info.Size(), progressbar.OptionShowBytes(true))
		}
	}
	defer func() { _ = bar.Clear() }()
	input := progressbar.NewReader(in, bar)
	i.Bad = func(bad *plantio.LineError) error {
		if i.reported++; i.reported > maxReported {
			return nil
		}
		return i.report(badLine{File: name, Line: bad.Line, Reason: bad.Reason})
	}
	i.Done = func() { bar.Describe(counted(i.Summary.Created, "plant", "plants")) }
	before := max(i.reported, maxReported)
	err := i.Import(ctx, plantio.NewReader(&input, fileFormat(i.cmd, name), i.maxBytes))
	if more := i.reported - before; more > 0 {
		err = cmp.Or(err, i.report(badLine{File: name, More: more}))
	}
	return i.failure(name, err)
}

func (i *importer) failure(name string, err error) error {
	if err == nil {
		return nil
	}
	stored := counted(i.Summary.Created, "plant was", "plants were") + " stored"
	if i.dryRun {
		stored = "nothing was stored"
	}
	if errors.As(err, new(*plantio.FormatError)) {
		return misuse("import %s: %w; %s", name, err, stored)
	}
	advice := "run the import again to continue"
	switch {
	case errors.Is(err, storage.ErrOverloaded): // only an import that is interrupted
		err = errors.New("interrupted")
	case errors.As(err, new(*plantio.ReadError)):
		err, advice = files.Reason(err), "fix the file, and import it again"
	case errors.Is(err, storage.ErrNoSpace):
		err, advice = errors.New("no space is left for the database"), "free some space, and run the import again to continue"
	}
	return fmt.Errorf("import %s: %w; %s: %s", name, err, stored, advice)
}

// A badLine is what an import prints of a bad line, or of the lines of a file that are not printed.
type badLine struct {
	File   string `json:"file"`
	Line   int    `json:"line,omitzero"`
	Reason string `json:"reason,omitzero"`
	More   int64  `json:"more,omitzero"`
}

// maxReported bounds the bad lines that an import prints.
const maxReported = 100

// report prints a bad line: on stdout with --json, else on stderr.
func (i *importer) report(bad badLine) error {
	text := fmt.Sprintf("%s:%d: %s", bad.File, bad.Line, bad.Reason)
	switch {
	case i.cmd.Bool("json"):
		return printResult(i.p.Stdout, i.cmd, bad, "")
	case bad.More > 0:
		text = fmt.Sprintf("%s: and %s", bad.File, counted(bad.More, "more bad line", "more bad lines"))
	}
	_, err := fmt.Fprintln(i.p.Stderr, logging.Line(text))
	return err
}

func openError(name string, err error) error {
	return fmt.Errorf("import %s: %w", name, app.AdviseRead(files.Reason(err), "name a file of plants, JSON or CSV, or - for stdin"))
}
