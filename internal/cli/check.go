package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v3"

	"plantstore/storage"
)

func newCheck(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "check",
		Usage: "read all that is stored and say whether it is whole",
		Description: "Checks the structure of the database and the checksum of every plant, while no server runs.\n" +
			"Nothing is ever changed.\n" +
			"Exit codes: 0 all is whole, 1 it is damaged or cannot be read, 2 misused.",
		Flags: append([]cli.Flag{
			&cli.BoolFlag{Name: "json", Usage: "print the findings as JSON", HideDefault: true},
			&cli.BoolFlag{Name: "fix-nothing", Usage: "change nothing, which is so in any case", HideDefault: true},
		}, optionFlags("STORAGE_URL")...),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			return check(ctx, p, cmd)
		},
	}
}

func check(ctx context.Context, p *Process, cmd *cli.Command) (err error) {
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	store, err := openEngine(ctx, c, forReading)
	if errors.Is(err, storage.ErrLocked) {
		const other = ", or check a copy of it, as plantstore backup does"
		return whoHasIt(ctx, c.Storage.Path, fmt.Errorf("%w%s", err, other), other)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	report, err := store.Check(ctx, nil)
	if err != nil {
		return fmt.Errorf("the check was not finished: %w", err)
	}
	write := writeFindings
	if cmd.Bool("json") {
		write = writeFindingsJSON
	}
	if err := write(p.Stdout, report); err != nil {
		return err
	}
	if !report.Whole() {
		return fmt.Errorf("%s is damaged: "+mend, dataPlace(c))
	}
	return nil
}

// writeFindings prints a report for people.
func writeFindings(w io.Writer, report storage.Report) error {
	for _, note := range report.Notes {
		if _, err := fmt.Fprintln(w, "note:", note); err != nil {
			return err
		}
	}
	for _, damage := range report.Damage {
		if _, err := fmt.Fprintln(w, damage); err != nil {
			return err
		}
	}
	if report.More > 0 {
		if _, err := fmt.Fprintf(w, "and %s\n", counted(report.More, "more finding", "more findings")); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(w, "%s whole, %s\n", counted(report.Plants, "plant is", "plants are"),
		counted(int64(len(report.Damage))+report.More, "finding", "findings"))
	return err
}

// writeFindingsJSON prints a report for programs.
func writeFindingsJSON(w io.Writer, report storage.Report) error {
	if err := json.MarshalWrite(w, report, jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := fmt.Fprintln(w)
	return err
}
