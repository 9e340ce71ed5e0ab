package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/internal/logging"
	"plantstore/internal/plantio"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newExport(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "export all plants to a file or to stdout",
		ArgsUsage: "[FILE]",
		Description: "Writes all plants in ascending order of their ids, as JSON Lines, or as CSV if FILE ends in .csv.\n" +
			"FILE appears once it is complete. Plants created meanwhile may be missing. An export stops at the\n" +
			"first corrupt plant.\n" +
			"CSV is not escaped: a spreadsheet may run a name such as =1+1 as a formula.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 found a corrupt plant.\n" +
			"Examples:\n" +
			"  plantstore plants export plants.jsonl\n" +
			"  plantstore plants export --format csv - | gzip >plants.csv.gz",
		Flags: storeFlags(p,
			choiceFlag("format", "`FORMAT` of the file: jsonl or csv (default: by file name)", "", "jsonl", "csv"),
			forceFlag(), jsonFlag(), quietFlag(),
		),
		ArgValidator: arguments(0, 1),
		Action:       configured(p, runExport),
	}
}

func runExport(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	toStdout := file == "" || file == standardStream || file == "/dev/stdout" // which leads to the same file as stdout
	if !toStdout {
		if err := checkOutput(file, cmd.Bool("force")); err != nil {
			return err
		}
		if ext := strings.ToLower(filepath.Ext(file)); !cmd.IsSet("format") && slices.Contains([]string{".xlsx", ".xls", ".ods", ".gz", ".zip"}, ext) {
			return misuse("%s: the format %s is not supported: export to a .csv file, which spreadsheets open, or to a .jsonl file", file, ext)
		}
	}
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) (err error) {
		var plants int64
		write := func(w io.Writer) (err error) {
			plants, err = writePlants(ctx, p, cmd, store, w, fileFormat(cmd, file))
			return err
		}
		if toStdout {
			return write(p.Stdout)
		}
		if err := files.CreateOutput(file, cmd.Bool("force"), func(f *os.File) error { return write(f) }); err != nil {
			return fmt.Errorf("export to %s: %w", file, adviseOutput(err))
		}
		return printResult(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
		}{file, plants}, "%s exported to %s", counted(plants, "plant", "plants"), file)
	})
}

// writePlants writes all plants to w, and returns their number.
func writePlants(ctx context.Context, p *Process, cmd *cli.Command, store app.Store, w io.Writer, format plantio.Format) (plants int64, err error) {
	bar, out := newProgress(p, cmd, -1), plantio.NewWriter(w, format)
	if w == p.Stdout && logging.IsTerminal(p.Stdout) { // it shows the plants
		bar = progressbar.DefaultSilent(-1)
	}
	defer func() { _ = bar.Clear() }()
	for record, err := range store.List(ctx, math.MinInt64) {
		if err == nil {
			err = out.Write(record)
		}
		if err != nil {
			return plants, cmp.Or(err, out.Flush()) // with the plants before the error
		}
		plants++
		_ = bar.Add(1)
	}
	return plants, out.Flush()
}

// standardStream is the file name for stdin or stdout.
const standardStream = "-"

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "replace an existing FILE, but never a database or a backup", HideDefault: true}
}

// checkOutput rejects a file that exists, or with force one that must not be replaced, before any
// work is done.
func checkOutput(file string, force bool) error {
	if strings.HasSuffix(filepath.ToSlash(file), "/") {
		return misuse("%s is the name of a directory: name a file", file)
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuseBy(err)
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return misuse("%s exists: name another file, or replace it with --force", file)
	}
	return nil
}

func adviseOutput(err error) error { return app.Advise(err, "create its directory first", "") }
