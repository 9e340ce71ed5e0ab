package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/models"
)

// misuseOf returns a misuse of a command, with a hint at its help.
func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return misuseBy(errors.Join(fmt.Errorf(format, args...), errors.New("see: "+cmd.FullName()+" --help")))
}

// usageError returns the misuse for the library's error about a flag.
func usageError(ctx context.Context, cmd *cli.Command, err error, _ bool) error {
	if len(cmd.Commands) > 0 && cmd.NArg() > 0 { // the flag of a misspelled command
		return checkArguments(ctx, cmd)
	}
	if err.Error() == "flag provided but not defined: -port" && slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return f.Names()[0] == "addr" }) {
		err = errors.New("there is no flag --port: use --addr, such as --addr 127.0.0.1:8080")
	}
	return misuseOf(cmd, "%w", err)
}

// checkArguments rejects the arguments of a command without arguments, and unknown commands.
func checkArguments(_ context.Context, cmd *cli.Command) error {
	name := cmd.Args().First()
	if strings.ContainsAny(name, "@=") || strings.Contains(name, "://") { // perhaps a URL with a password (C4.25)
		name = models.Redacted
	}
	switch {
	case cmd.NArg() == 0, cmd.Name == "help" && name != models.Redacted: // the library checks the arguments of help
		return nil
	case len(cmd.Commands) > 0 || cmd.Name == "help":
		return misuseOf(cmd, "there is no command %q", name)
	}
	return misuseOf(cmd, "%s takes no arguments, but got %q", cmd.FullName(), name)
}

// arguments returns a check that a command has least to most arguments, none of which is empty,
// as an unset shell variable is.
func arguments(least, most int) cli.ArgValidatorFunc {
	return func(_ context.Context, cmd *cli.Command) error {
		given := cmd.Args().Slice()
		if len(given) < least || len(given) > most {
			return misuseOf(cmd, "%s takes %s after its flags, but got %s", cmd.FullName(), cmd.ArgsUsage, counted(int64(len(given)), "argument", "arguments"))
		}
		if slices.Contains(given, "") {
			return misuseOf(cmd, "%s takes %s after its flags, but got an empty one", cmd.FullName(), cmd.ArgsUsage)
		}
		return nil
	}
}
