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
)

func newExport(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "export",
		Usage:     "write all plants to a file, or to stdout",
		ArgsUsage: "[FILE]",
		Description: "Writes JSON Lines, or CSV if FILE ends in .csv, in ascending order of the ids. A file\n" +
			"appears when it is whole, and takes the place of an older one. Plants that are created in\n" +
			"the meantime may be in it or not.\n" +
			"Examples:\n" +
			"  plantstore plants export plants.jsonl\n" +
			"  plantstore plants export --format csv - | gzip >plants.csv.gz",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "format", Usage: "`format` of the file: jsonl or csv (default: by its name)"},
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
	toStdout := file == "" || file == standardStream
	if !toStdout {
		if err := notAStore(file, c); err != nil {
			return err
		}
	}
	return withStore(ctx, c, forReading, func(ctx context.Context, store storage.Store) error {
		bar := newProgress(p, cmd, -1)
		defer bar.close()
		if toStdout {
			_, err := writePlants(ctx, p.Stdout, format, store, bar)
			return err
		}
		plants, err := export(ctx, file, format, store, bar)
		if err != nil {
			return fmt.Errorf("export to %s: %w", file, err)
		}
		bar.close()
		return report(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
		}{file, plants}, "%d plants are in %s", plants, file)
	})
}

// export writes all plants to a file and returns how many they are.
func export(ctx context.Context, file string, format transfer.Format, store storage.Store, bar *progress) (plants int64, err error) {
	err = durable.Replace(file, filePerm, func(tmp string) error {
		return writeFile(tmp, func(w io.Writer) (err error) {
			plants, err = writePlants(ctx, w, format, store, bar)
			return err
		})
	})
	return plants, err
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

// writePlants writes all plants to w and returns how many they are.
func writePlants(ctx context.Context, w io.Writer, format transfer.Format, store storage.Store, bar *progress) (plants int64, err error) {
	out := transfer.NewWriter(w, format)
	for record, err := range store.List(ctx, math.MinInt64) {
		if err != nil {
			return plants, err
		}
		if err := out.Write(record); err != nil {
			return plants, err
		}
		if plants++; plants%progressStep == 0 {
			bar.set(plants)
		}
	}
	return plants, out.Flush()
}

// writeFile writes to the existing file path.
func writeFile(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(write(file), file.Close())
}

// notAStore refuses to write to the file that this or any other store is in.
func notAStore(file string, c *config.Config) error {
	if err := notTheDatabase(file, c); err != nil {
		return err
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuse("%v", err)
	}
	return nil
}

// notTheDatabase refuses the file that the store is in.
func notTheDatabase(file string, c *config.Config) error {
	database, err := os.Stat(c.Storage.Path)
	if err != nil {
		return nil //nolint:nilerr // there is none that could be lost
	}
	if there, err := os.Stat(file); err == nil && os.SameFile(there, database) {
		return misuse("%s is the database itself: name another file", file)
	}
	return nil
}
