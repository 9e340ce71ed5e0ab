package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
)

func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return misuseBy(errors.Join(fmt.Errorf(format, args...), errors.New("see: "+cmd.FullName()+" --help")))
}

func usageError(ctx context.Context, cmd *cli.Command, err error, _ bool) error {
	if len(cmd.Commands) > 0 && cmd.NArg() > 0 { // the flag of a misspelled command
		return arguments(0, 0)(ctx, cmd)
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return misuseOf(cmd, "%w%s", err, didYouMean(name, cli.SuggestFlag(cmd.Flags, name, false)))
	}
	for term, reason := range map[string]string{
		"strconv.ParseInt:": "must be an integer of 64 bits", "strconv.ParseUint:": "must be a number from 0 to 65535",
		"parse error": "must be true or false", "time:": "must be a duration, such as 90s or 24h",
	} {
		if flag, _, found := strings.Cut(err.Error(), ": "+term); found { // the library quotes the terms of Go
			return misuseOf(cmd, "%s: %s", flag, reason)
		}
	}
	return misuseOf(cmd, "%w", err)
}

// arguments returns a check that a command has least to most arguments, none of which is empty,
// as an unset shell variable is. It also rejects unknown commands. No error repeats an argument,
// which may be a URL with a password (C4.25).
func arguments(least, most int) cli.ArgValidatorFunc {
	return func(_ context.Context, cmd *cli.Command) error {
		given := cmd.Args().Slice()
		switch {
		case cmd.Name == "help": // the library checks its argument
			return nil
		case len(cmd.Commands) > 0 && len(given) > 0:
			return misuseOf(cmd, "there is no such command%s", didYouMean(given[0], cli.SuggestCommand(cmd.Commands, given[0])))
		case len(given) < least || len(given) > most:
			return misuseOf(cmd, "%s takes %s after its flags, but got %s",
				cmd.FullName(), cmp.Or(cmd.ArgsUsage, "no arguments"), counted(int64(len(given)), "argument", "arguments"))
		case slices.Contains(given, ""):
			return misuseOf(cmd, "%s takes %s after its flags, but got an empty one", cmd.FullName(), cmd.ArgsUsage)
		}
		return nil
	}
}

// didYouMean returns the end of an error message that suggests a name, if it is near the given one: the
// library has a suggestion for anything.
func didYouMean(given, name string) string {
	if name == "" || !config.Near(given, strings.TrimLeft(name, "-")) {
		return ""
	}
	return ": did you mean " + name + "?"
}
