package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/urfave/cli/v3"

	"plantstore/internal/transfer"
	"plantstore/storage"
)

// newPlants returns the command above those that show and move plants.
func newPlants(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "plants",
		Usage: "show the plants, or move them to and from files",
		Description: "Works on the database of serve with the same --storage-url, whether a server runs on it or not.\n" +
			"Only import makes or changes anything.",
		Commands: []*cli.Command{newList(p), newGet(p), newCount(p), newExport(p), newImport(p)},
		Action: func(_ context.Context, cmd *cli.Command) error {
			return cli.ShowSubcommandHelp(cmd)
		},
	}
}

// formatFlag is that of the commands that print plants.
func formatFlag() cli.Flag {
	return &cli.StringFlag{Name: "format", Usage: "`format` of the output: table, jsonl or csv (default: table on a terminal, else jsonl)"}
}

// quietFlag is that of the commands that take a while.
func quietFlag() cli.Flag {
	return &cli.BoolFlag{Name: "quiet", Usage: "print errors only", HideDefault: true}
}

// plantWriter returns what writes plants to w in the format that a flag names.
func plantWriter(w io.Writer, name string) (transfer.Writer, error) {
	if name == "table" || name == "" && isTerminal(w) {
		return newTable(w), nil
	}
	if name == "" {
		name = "jsonl"
	}
	format, err := transfer.ParseFormat(name)
	if err != nil {
		return nil, misuse("--format: %q: must be table, jsonl or csv", name)
	}
	return transfer.NewWriter(w, format), nil
}

// printPlants prints what write writes of the store, in the format that --format
// names.
func printPlants(ctx context.Context, p *Process, cmd *cli.Command, write func(context.Context, storage.Store, transfer.Writer) error) error {
	out, err := plantWriter(p.Stdout, cmd.String("format"))
	if err != nil {
		return err
	}
	c, err := loadConfig(p, cmd)
	if err != nil {
		return err
	}
	return withStore(ctx, c, forReading, func(ctx context.Context, store storage.Store) error {
		return errors.Join(write(ctx, store, out), out.Flush())
	})
}

// oneArgument refuses any number of arguments but one.
func oneArgument(_ context.Context, cmd *cli.Command) error {
	if cmd.NArg() != 1 {
		return misuseOf(cmd, "%s takes one argument, %s, after its flags, but got %d", cmd.FullName(), cmd.ArgsUsage, cmd.NArg())
	}
	return noneEmpty(cmd)
}

// atMostOneArgument refuses more than one argument.
func atMostOneArgument(_ context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 1 {
		return misuseOf(cmd, "%s takes at most one argument, %s, after its flags, but got %d", cmd.FullName(), cmd.ArgsUsage, cmd.NArg())
	}
	return noneEmpty(cmd)
}

// someArguments refuses no arguments at all.
func someArguments(_ context.Context, cmd *cli.Command) error {
	if cmd.NArg() == 0 {
		return misuseOf(cmd, "%s needs %s", cmd.FullName(), cmd.ArgsUsage)
	}
	return noneEmpty(cmd)
}

// noneEmpty refuses an empty argument, which a shell makes of a variable that is
// not set.
func noneEmpty(cmd *cli.Command) error {
	if slices.Contains(cmd.Args().Slice(), "") {
		return misuseOf(cmd, "%s needs %s, but got an empty one", cmd.FullName(), cmd.ArgsUsage)
	}
	return nil
}

// writeLine prints one line.
func writeLine(w io.Writer, format string, args ...any) error {
	_, err := fmt.Fprintf(w, format+"\n", args...)
	return err
}
