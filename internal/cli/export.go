package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/atomicfile"
	"plantstore/internal/config"
	"plantstore/internal/plantio"
	"plantstore/storage"
)

func newExport(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "export all plants to a file or to stdout",
		ArgsUsage: "[FILE]",
		Description: "Writes JSON Lines, or CSV if FILE ends in .csv, in ascending order of the ids. FILE appears\n" +
			"when it is complete, and replaces an older one. Plants created meanwhile may be missing.\n" +
			"An export fails at the first corrupt plant. With --skip-damaged it contains all intact plants,\n" +
			"and stderr names the others; the server must be stopped for that.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 there are corrupt plants.\n" +
			"Examples:\n" +
			"  plantstore plants export plants.jsonl\n" +
			"  plantstore plants export --format csv - | gzip >plants.csv.gz",
		Flags: storeFlags(
			choiceFlag("format", "`format` of the file: jsonl or csv (default: by file name)", "", "jsonl", "csv"),
			&cli.BoolFlag{Name: "skip-damaged", Usage: "skip corrupt plants, name them on stderr and exit with 3", HideDefault: true},
			safeFlag(), jsonFlag(), quietFlag(),
		),
		ArgValidator: arguments(0, 1),
		Action:       configured(p, runExport),
	}
}

func runExport(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	format, err := fileFormat(cmd, file)
	if err != nil {
		return err
	}
	toStdout := file == "" || file == standardStream || file == "/dev/stdout" // which leads to the same file as stdout
	if !toStdout {
		if err := checkDestination(file, c); err != nil {
			return err
		}
	}
	e := &exporter{p: p, cmd: cmd, format: format}
	options := storage.Options{ReadOnly: true, AllowCorrupt: cmd.Bool("skip-damaged")}
	return withStore(ctx, c, options, func(ctx context.Context, store app.Plants) error {
		e.source = plantio.Query{}.Source(store)
		if cmd.Bool("skip-damaged") {
			local, ok := store.(*storage.Store)
			if !ok { // a database can't be checked while a server writes to it
				return app.ServerRunsError(c.Storage.Path, "")
			}
			e.source = func(ctx context.Context, each func(storage.Record) error) (err error) {
				e.skipped, err = local.Check(ctx, each)
				return err
			}
		}
		if !toStdout {
			return e.toFile(ctx, file)
		}
		if _, err := e.write(ctx, p.Stdout); err != nil {
			return err
		}
		return e.printSkipped("the output")
	})
}

// An exporter exports plants and prints the result.
type exporter struct {
	p       *Process
	cmd     *cli.Command
	format  plantio.Format
	source  plantio.Source
	skipped storage.Report // corrupt records
}

// toFile exports to a file, which appears when it is complete.
func (e *exporter) toFile(ctx context.Context, path string) error {
	var plants int64
	err := atomicfile.Replace(path, filePerm, func(file *atomicfile.File) (err error) {
		plants, err = e.write(ctx, file)
		return err
	})
	if err != nil {
		return fmt.Errorf("export to %s: %w", path, adviseDestination(err))
	}
	err = printResult(e.p.Stdout, e.cmd, struct {
		File   string `json:"file"`
		Plants int64  `json:"plants"`
	}{path, plants}, "%s in %s", counted(plants, "plant is", "plants are"), path)
	return errors.Join(err, e.printSkipped(path))
}

// write writes the plants to w, with a progress bar.
func (e *exporter) write(ctx context.Context, w io.Writer) (plants int64, err error) {
	bar := newProgress(e.p, e.cmd, -1)
	defer func() { _ = bar.Clear() }()
	return plantio.Export(ctx, e.source, plantio.NewWriter(w, e.format), func(plants int64) { _ = bar.Set64(plants) })
}

// printSkipped prints the corrupt records, if there are any, and returns the error for
// them. The name of the destination is written.
func (e *exporter) printSkipped(written string) error {
	if e.skipped.Intact() {
		return nil
	}
	if err := writeFindings(e.p.Stderr, e.skipped); err != nil {
		return err
	}
	return findings("corrupt plants were left out, %s is intact: import it into a new database, or restore a backup", written)
}
