package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/models"
)

// checkArguments rejects arguments of a command without arguments, such as a misspelled
// subcommand.
func checkArguments(_ context.Context, cmd *cli.Command) error {
	name := cmd.Args().First()
	switch {
	case cmd.NArg() == 0:
		return nil
	case len(cmd.Commands) > 0:
		return unknownCommand(cmd, name)
	}
	return misuseOf(cmd, "%s takes no arguments, but got %q", cmd.FullName(), shownArgument(name))
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

// shownArgument hides an argument that may be a URL with a password (C4.25).
func shownArgument(text string) string {
	if strings.ContainsAny(text, "@=") || strings.Contains(text, "://") {
		return models.Redacted
	}
	return text
}

func unknownCommand(cmd *cli.Command, name string) error {
	return misuseOf(cmd, "there is no command %q", shownArgument(name))
}

// reword returns the error of a command for the library's error about an invalid flag.
func reword(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	if len(cmd.Commands) > 0 && cmd.NArg() > 0 { // a flag of a misspelled command
		return unknownCommand(cmd, cmd.Args().First())
	}
	message := err.Error()
	if name, ok := strings.CutPrefix(message, "flag provided but not defined: -"); ok {
		return unknownFlag(cmd, strings.TrimLeft(name, "-"))
	}
	if name, ok := strings.CutPrefix(message, "flag needs an argument: "); ok {
		return misuseOf(cmd, "%s needs a value", name)
	}
	if what, ok := strings.CutPrefix(message, "invalid value "); ok {
		text, rest, _ := strings.Cut(what, " for flag -")
		name, reason, _ := strings.Cut(rest, ": ")
		return misuseOf(cmd, "--%s: %s: %s", name, text, requirement(cmd.Value(name), reason))
	}
	return misuseOf(cmd, "%s", message)
}

// requirement returns what a flag with such values requires; reason is the library's error.
func requirement(value any, reason string) string {
	switch value.(type) {
	case string:
		return reason
	case time.Duration:
		return "must be a duration, such as 90s or 24h"
	case int, int64:
		return "must be an integer of at most 64 bits"
	case uint16:
		return "must be from 0 to 65535"
	}
	return "must be true or false"
}

func unknownFlag(cmd *cli.Command, name string) error {
	if name == "jwt-secret" {
		return misuseOf(cmd, "there is no flag --jwt-secret, since others could read it off the command line; "+
			"use JWT_SECRET or --jwt-secret-file")
	}
	return misuseOf(cmd, "there is no flag --%s", name)
}
