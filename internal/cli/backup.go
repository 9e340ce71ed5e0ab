package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/internal/logging"
	"plantstore/internal/operate"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

func newBackup(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "backup",
		Usage:     "write a verified copy of the database to a file",
		ArgsUsage: "FILE",
		Description: "Writes a verified copy of the database to FILE. The server can keep running. The backup contains\n" +
			"all plants acknowledged before it started.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the copy was corrupt and has been deleted.\n" +
			"Examples:\n" +
			"  plantstore backup \"plants-$(date +%F).db\"",
		Flags:        storeFlags(p, forceFlag(), jsonFlag(), quietFlag()),
		ArgValidator: arguments(1, 1),
		Action:       configured(p, backup),
	}
}

func backup(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	if file == standardStream {
		return misuseOf(cmd, "a backup cannot go to stdout; name a file, or use plants export")
	}
	if err := errors.Join(requireFile(c), checkOutput(file, cmd.Bool("force"))); err != nil {
		return err
	}
	return withStore(ctx, c, storage.Options{ReadOnly: true}, func(ctx context.Context, store app.Store) error {
		if client, served := store.(*operate.Client); served && client.Info().Ephemeral {
			return fmt.Errorf("the server on %s runs with --ephemeral, and has other plants: stop it first", c.Storage.Path)
		}
		plants, size, err := writeBackup(ctx, file, cmd.Bool("force"), store)
		if err != nil {
			return corruptStore(p, fmt.Errorf("backup to %s: %w", file, adviseOutput(err)),
				"the database is corrupt, the copy was deleted: stop the server and "+remedy)
		}
		return printResult(p.Stdout, cmd, struct {
			File   string `json:"file"`
			Plants int64  `json:"plants"`
			Bytes  int64  `json:"bytes"`
		}{file, plants, size}, "%s backed up to %s (%d bytes, verified)", counted(plants, "plant", "plants"), file, size)
	})
}

// writeBackup writes a verified copy of the store to the file path, see [files.CreateOutput]. It
// returns the number of plants and the size in bytes.
func writeBackup(ctx context.Context, path string, force bool, store app.Store) (plants, size int64, err error) {
	err = files.CreateOutput(path, force, func(file *os.File) error {
		if err := store.Snapshot(ctx, file); err != nil {
			return err
		}
		info, err := file.Stat()
		if err != nil {
			return err
		}
		size = info.Size()
		plants, err = bbolt.Check(ctx, file)
		return err
	})
	return plants, size, err
}

func newRestore(p *Process) *cli.Command {
	return &cli.Command{
		Name:      "restore",
		Usage:     "restore the database from a backup (the server must be stopped)",
		ArgsUsage: "FILE",
		Description: "Verifies the backup and copies it into place. With --force, replaces an existing database, and\n" +
			"keeps it under a name with the date. FILE stays as it is.\n" +
			"Exit codes: 0 done, 1 failed, 2 misused, 3 the backup is corrupt and nothing was replaced.\n" +
			"Examples:\n" +
			"  plantstore restore --force plants-2026-01-31.db",
		Flags: storeFlags(p,
			&cli.BoolFlag{Name: "force", Usage: "replace the database, and keep it under another name", HideDefault: true},
			jsonFlag(), quietFlag(),
		),
		ArgValidator: arguments(1, 1),
		Action:       configured(p, restore),
	}
}

func restore(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) error {
	file := cmd.Args().First()
	if err := requireFile(c); err != nil {
		return err
	}
	backup, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("restore %s: %w", file, app.AdviseRead(files.Reason(err), "name a file written by plantstore backup"))
	}
	if database, err := os.Stat(c.Storage.Path); err == nil && os.SameFile(backup, database) {
		return misuse("%s is the database itself: name another file", file)
	}
	if err := app.ServerRuns(ctx, c.Storage.Path, ""); err != nil {
		return err
	}
	if _, err := os.Stat(c.Storage.Path); err == nil && !cmd.Bool("force") {
		return misuse("%s exists: replace it with --force, which keeps it under another name", c.Storage.Path)
	}
	plants, kept, err := bbolt.Restore(ctx, c.Storage.Path, file)
	if err != nil {
		return corruptStore(p, app.AdviseDatabase(err), "%s is not an intact backup, nothing was replaced: use another one", file)
	}
	was := "there was no previous database"
	if kept != "" {
		was = "the previous database is " + kept
	}
	return printResult(p.Stdout, cmd, struct {
		Database string `json:"database"`
		Plants   int64  `json:"plants"`
		Kept     string `json:"kept,omitzero"`
	}{c.Storage.Path, plants, kept}, "%s restored to %s; %s", counted(plants, "plant", "plants"), c.Storage.Path, was)
}

func newCheck(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "verify the integrity of the database (the server must be stopped)",
		Description: "Verifies the structure of the database and the checksum of each plant. Changes nothing.\n" +
			"Exit codes: 0 intact, 1 corrupt or unreadable, 2 misused.\n" +
			"Examples:\n" +
			"  plantstore check\n" +
			"  plantstore backup copy.db && plantstore check --storage-url copy.db",
		Flags:  storeFlags(p, &cli.BoolFlag{Name: "json", Usage: "print the findings as JSON", HideDefault: true}),
		Action: configured(p, check),
	}
}

func check(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) (err error) {
	var report storage.Report
	store, err := app.OpenDatabase(ctx, c, storage.Options{ReadOnly: true})
	refused, corrupt := errors.AsType[*bbolt.CorruptStoreError](err)
	switch {
	case corrupt:
		report = refused.Report
	case errors.Is(err, storage.ErrLocked):
		return cmp.Or(app.ServerRuns(ctx, c.Storage.Path, ", or make a verified copy of it with plantstore backup FILE"), err)
	case err != nil:
		return err
	default:
		defer func() { err = errors.Join(err, store.Close()) }()
		if report, err = store.Check(ctx); err != nil {
			return fmt.Errorf("the check did not finish: %w", err)
		}
	}
	if cmd.Bool("json") {
		err = printResult(p.Stdout, cmd, report, "")
	} else {
		err = writeFindings(p.Stdout, report)
	}
	if err != nil {
		return err
	}
	if !report.Intact() {
		return fmt.Errorf("%s is corrupt: "+remedy, app.DataPlace(c.Storage))
	}
	return nil
}

// corruptStore returns err. If that is a *bbolt.CorruptStoreError, it prints the findings and returns
// an error with this message and exit code 3 instead.
func corruptStore(p *Process, err error, format string, args ...any) error {
	var corrupt *bbolt.CorruptStoreError
	if !errors.As(err, &corrupt) {
		return err
	}
	if err := writeFindings(p.Stderr, corrupt.Report); err != nil {
		return err
	}
	return findings(format, args...)
}

func writeFindings(w io.Writer, report storage.Report) error {
	var text strings.Builder
	for _, finding := range report.Corruption {
		text.WriteString(logging.Line(finding) + "\n")
	}
	if report.More > 0 {
		text.WriteString("and " + counted(report.More, "more finding", "more findings") + "\n")
	}
	if report.Plants > 0 || report.Intact() { // else nothing was counted
		text.WriteString(counted(report.Plants, "plant is", "plants are") + " intact, " + counted(report.Findings(), "finding", "findings") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func requireFile(c *config.Config) error {
	if c.Storage.Path == "" {
		return misuse("the plants are not in a file but in %s: use its own tools for copies", c.Storage.Scheme)
	}
	return nil
}
