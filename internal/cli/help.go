package cli

import (
	"context"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

// newHelp returns a replacement of the library's command, which would be a subcommand of
// every command. Below the root it is hidden: --help is listed.
func newHelp(p *Process, hidden bool) *cli.Command {
	return &cli.Command{
		Name:   "help",
		Hidden: hidden,
		Usage:  "print the help of a command, or all options",
		Description: "Examples:\n" +
			"  plantstore help plants import\n" +
			"  plantstore help options",
		ArgsUsage:    "[command | options]",
		ArgValidator: arguments(0, math.MaxInt),
		Action: func(ctx context.Context, cmd *cli.Command) error {
			described, names := cmd.Lineage()[1], cmd.Args().Slice()
			if described == cmd.Root() && slices.Equal(names, []string{"options"}) {
				return printOptions(p)
			}
			for _, name := range names {
				below := described.Command(name)
				if below == nil {
					return unknownCommand(described, name)
				}
				described = below
			}
			if described == cmd.Root() {
				return cli.ShowRootCommandHelp(described)
			}
			return cli.ShowCommandHelp(ctx, described.Lineage()[1], described.Name)
		},
	}
}

// The layout of help texts, in columns.
const (
	helpWidth = 100
	flagWidth = 25 // of a flag with its value
)

// describeFlag returns the help of a flag: its names and value, a tab, and its usage with the
// default, in as many lines as it needs.
func describeFlag(flag cli.Flag) string {
	described, ok := flag.(cli.DocGenerationFlag)
	if !ok {
		return cli.FlagStringer(flag)
	}
	name := "--" + strings.Join(flag.Names(), ", -")
	_, rest, _ := strings.Cut(described.GetUsage(), "`")
	if value, _, found := strings.Cut(rest, "`"); found {
		name += " " + value
	}
	usage := usageOf(flag)
	if preset := described.GetDefaultText(); preset != "" && described.IsDefaultVisible() {
		usage += " (default: " + preset + ")"
	}
	return name + "\t" + wrapped(usage, "   \t", helpWidth-flagWidth-5)
}

// wrapped breaks the lines of a text that are longer than width, and indents the rest of
// each.
func wrapped(text, indent string, width int) string {
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		for len(line) > width {
			at := strings.LastIndexByte(line[:width+1], ' ')
			if at <= len(indent) {
				break
			}
			lines = append(lines, line[:at])
			line = indent + line[at+1:]
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func printOptions(p *Process) error {
	var text strings.Builder
	text.WriteString("All options of the configuration. Flags override the environment, which overrides .env.\n")
	group := ""
	for _, o := range config.Options() {
		if o.Group != group {
			group = o.Group
			text.WriteString("\n" + strings.ToUpper(group) + ":\n")
		}
		text.WriteString("   " + o.Env)
		if o.Flag != "" {
			text.WriteString("  --" + o.Flag)
		}
		if o.Default != "" && !o.Bool {
			text.WriteString("  (default: " + o.Default + ")")
		}
		text.WriteString("\n      " + strings.ReplaceAll(o.Help, "`", "") + "\n")
	}
	_, err := io.WriteString(p.Stdout, text.String())
	return err
}
