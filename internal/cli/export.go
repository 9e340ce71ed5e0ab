package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/atomicfile"
	"plantstore/internal/config"
	"plantstore/internal/transfer"
	"plantstore/storage"
)

// flagSkipDamaged is the flag of the export from a corrupt database.
const flagSkipDamaged = "skip-damaged"

func newExport(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write all plants to a file, or to stdout",
		ArgsUsage: "[FILE]",
		Description: "Writes JSON Lines, or CSV if FILE ends in .csv, in ascending order of the ids. A file\n" +
			"appears when it is whole, and takes the place of an older one. Plants that are created in\n" +
			"the meantime may be in it or not.\n" +
			"Damage ends it, unless --skip-damaged is given: then all that is whole is written, and the\n" +
			"damage is named on stderr. No server may run for that.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 there is damage.\n" +
			"Examples:\n" +
			"  plantstore plants export plants.jsonl\n" +
			"  plantstore plants export --format csv - | gzip >plants.csv.gz",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`format` of the file: jsonl or csv (default: by its name)"},
			&cli.BoolFlag{Name: flagSkipDamaged, Usage: "leave out what is damaged, name it, and end with exit code 3", HideDefault: true},
			safeFlag(), jsonFlag(), quietFlag(),
		}, optionFlags(storageOptions()...)...),
		ArgValidator: atMostOneArgument,
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return runExport(ctx, p, cmd)
		},
	}
}

func runExport(ctx context.Context, p *Process, cmd *cli.Command) error {
	file := cmd.Args().First()
	format, err := fileFormat(cmd, file)
	if err != nil {
		return err
	}
	if format, err = safeFormat(cmd, format); err != nil {
		return err
	}
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	toStdout := file == "" || file == standardStream || file == "/dev/stdout" // that leads to a file, where stdout does
	if !toStdout {
		if err := checkDestination(file, c); err != nil {
			return err
		}
	}
	access := app.ForReading
	if cmd.Bool(flagSkipDamaged) {
		access = app.ForSalvage
	}
	return withStore(ctx, c, access, func(ctx context.Context, store app.Plants) error {
		bar := newProgress(p, cmd, -1)
		defer bar.close()
		e := &exporter{format: format, bar: bar, read: listed(store)}
		if cmd.Bool(flagSkipDamaged) {
			e.read = e.whole(store, c)
		}
		if toStdout {
			if err := e.write(ctx, p.Stdout); err != nil {
				return err
			}
			return e.damage(p, "what was written")
		}
		if err := e.writeFile(ctx, file); err != nil {
			return fmt.Errorf("export to %s: %w", file, adviseDestination(err))
		}
		bar.close()
		err := report(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
		}{file, e.plants}, "%s in %s", counted(e.plants, "plant is", "plants are"), file)
		return errors.Join(err, e.damage(p, file))
	})
}

// An exporter writes all plants that it reads.
type exporter struct {
	format transfer.Format
	bar    *progress
	read   func(ctx context.Context, each func(storage.Record) error) error
	plants int64          // that were written
	found  storage.Report // of what was left out
}

// listed returns what reads the plants of a store up to the first that is damaged.
func listed(store app.Plants) func(context.Context, func(storage.Record) error) error {
	return func(ctx context.Context, each func(storage.Record) error) error {
		for record, err := range store.List(ctx, math.MinInt64) {
			if err == nil {
				err = each(record)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// whole returns what reads the plants that are whole, and notes what is not.
func (e *exporter) whole(store app.Plants, c *config.Config) func(context.Context, func(storage.Record) error) error {
	return func(ctx context.Context, each func(storage.Record) error) (err error) {
		local, ok := store.(*storage.Store)
		if !ok { // what a server writes to cannot be checked
			return app.StopServer(c.Storage.Path, "")
		}
		e.found, err = local.Check(ctx, each)
		return err
	}
}

// damage prints the damage that was found, and returns the error that says so.
func (e *exporter) damage(p *Process, written string) error {
	if e.found.Whole() {
		return nil
	}
	if err := writeFindings(p.Stderr, e.found); err != nil {
		return err
	}
	return findings("what is damaged was left out, %s is whole: import it into a new database, or restore a backup", written)
}

// writeFile writes all plants to a file.
func (e *exporter) writeFile(ctx context.Context, file string) error {
	return atomicfile.Replace(file, filePerm, func(file *atomicfile.File) error { return e.write(ctx, file) })
}

// write writes all plants to w.
func (e *exporter) write(ctx context.Context, w io.Writer) error {
	out := transfer.NewWriter(w, e.format)
	err := e.read(ctx, func(record storage.Record) error {
		if e.plants++; e.plants%progressStep == 0 {
			e.bar.set(e.plants)
		}
		return out.Write(record)
	})
	if err != nil {
		return err
	}
	return out.Flush()
}
