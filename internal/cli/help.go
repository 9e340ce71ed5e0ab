package cli

import (
	"context"
	"strings"

	"github.com/urfave/cli/v3"
)

const helpName = "help"

// newHelp returns a replacement of the library's command, which would be a subcommand of
// every command.
func newHelp() *cli.Command {
	return &cli.Command{
		Name:  helpName,
		Usage: "print the help of a command",
		Description: "Examples:\n" +
			"  plantstore help plants import",
		ArgsUsage: "[command]",
		Action: func(ctx context.Context, cmd *cli.Command) error {
			above, args := cmd.Root(), cmd.Args().Slice()
			if len(args) == 0 {
				return cli.ShowRootCommandHelp(above)
			}
			for {
				next := above.Command(args[0])
				switch {
				case next == nil:
					return unknownCommand(above, args[0])
				case len(args) == 1:
					return cli.ShowCommandHelp(ctx, above, args[0])
				}
				above, args = next, args[1:]
			}
		},
	}
}

// describeFlag returns the help of a flag: a line with its name, default and environment
// variable, and a line with its usage.
func describeFlag(flag cli.Flag) string {
	names, rest, _ := strings.Cut(cli.FlagStringer(flag), "\t")
	described, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return names
	}
	usage := strings.ReplaceAll(described.GetUsage(), "`", "")
	if usage == described.GetUsage() { // without a value
		names = "--" + flag.Names()[0]
	}
	return names + strings.TrimPrefix(rest, usage) + "\n" + usage
}
