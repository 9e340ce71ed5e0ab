package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/durable"
	"plantstore/internal/transfer"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

const (
	// standardStream is the name of a file that means stdin or stdout.
	standardStream = "-"
	// filePerm is the mode of the files that commands make: who may read the
	// database may read them.
	filePerm = 0o600

	flagSkipDamaged = "skip-damaged"
)

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
			jsonFlag(), quietFlag(),
		}, optionFlags("STORAGE_URL")...),
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
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	toStdout := file == "" || file == standardStream || file == "/dev/stdout" // that leads to a file, where stdout does
	if !toStdout {
		if err := notAStore(file, c); err != nil {
			return err
		}
	}
	return withStore(ctx, c, forReading, func(ctx context.Context, store storage.Store) error {
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
			return fmt.Errorf("export to %s: %w", file, advisedFile(err))
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
func listed(store storage.Store) func(context.Context, func(storage.Record) error) error {
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
func (e *exporter) whole(store storage.Store, c *config.Config) func(context.Context, func(storage.Record) error) error {
	return func(ctx context.Context, each func(storage.Record) error) (err error) {
		e.found, err = store.Check(ctx, each)
		if errors.Is(err, errors.ErrUnsupported) {
			return stopFirst(c.Storage.Path, "")
		}
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
	return durable.Replace(file, filePerm, func(tmp string) error {
		return writeFile(tmp, func(w io.Writer) error { return e.write(ctx, w) })
	})
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

// fileFormat returns the format that --format names, or that of the file.
func fileFormat(cmd *cli.Command, file string) (transfer.Format, error) {
	if !cmd.IsSet("format") {
		return transfer.FormatOf(file), nil
	}
	format, err := transfer.ParseFormat(cmd.String("format"))
	if err != nil {
		return format, misuse("--format: %v", err)
	}
	return format, nil
}

// writeFile writes to the existing file path.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// notAStore refuses to write to the file that this or any other store is in, and to
// one that belongs to it.
func notAStore(file string, c *config.Config) error {
	if err := notTheDatabase(file, c); err != nil {
		return err
	}
	if same(file, c.JWTSecretFile) || same(file, secretBeside(c.Storage.Path)) {
		return misuse("%s is the secret of the tokens: name another file", file)
	}
	if same(file, c.AuditLog) {
		return misuse("%s is the audit log: name another file", file)
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuse("%v", err)
	}
	return nil
}

// notTheDatabase refuses the file that the store is in.
func notTheDatabase(file string, c *config.Config) error {
	if same(file, c.Storage.Path) {
		return misuse("%s is the database itself: name another file", file)
	}
	return nil
}

// same reports whether there is a file that has both names.
func same(file, other string) bool {
	a, err := os.Stat(file)
	if err != nil {
		return false
	}
	b, err := os.Stat(other)
	return err == nil && os.SameFile(a, b)
}
