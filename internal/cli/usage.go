package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/auth"
	"plantstore/internal/config"
)

// checkArguments rejects arguments of a command without arguments, such as a misspelled
// subcommand.
func checkArguments(_ context.Context, cmd *cli.Command) error {
	name := cmd.Args().First()
	switch {
	case cmd.NArg() == 0 || cmd.Name == helpName:
		return nil
	case len(cmd.Commands) > 0:
		return unknownCommand(cmd, name)
	}
	return misuseOf(cmd, "%s takes no arguments, but got %q", cmd.FullName(), shownArgument(name))
}

func oneArgument(_ context.Context, cmd *cli.Command) error {
	if cmd.NArg() != 1 {
		return misuseOf(cmd, "%s takes one argument, %s, after its flags, but got %d", cmd.FullName(), cmd.ArgsUsage, cmd.NArg())
	}
	return noneEmpty(cmd)
}

func atMostOneArgument(_ context.Context, cmd *cli.Command) error {
	if cmd.NArg() > 1 {
		return misuseOf(cmd, "%s takes at most one argument, %s, after its flags, but got %d", cmd.FullName(), cmd.ArgsUsage, cmd.NArg())
	}
	return noneEmpty(cmd)
}

func someArguments(_ context.Context, cmd *cli.Command) error {
	if cmd.NArg() == 0 {
		return misuseOf(cmd, "%s needs %s", cmd.FullName(), cmd.ArgsUsage)
	}
	return noneEmpty(cmd)
}

// noneEmpty rejects empty arguments, which result from unset shell variables.
func noneEmpty(cmd *cli.Command) error {
	if slices.Contains(cmd.Args().Slice(), "") {
		return misuseOf(cmd, "%s needs %s, but got an empty one", cmd.FullName(), cmd.ArgsUsage)
	}
	return nil
}

// shownArgument hides an argument that may be a URL with a password (C4.25).
func shownArgument(text string) string {
	if strings.ContainsAny(text, "@=") || strings.Contains(text, "://") {
		return auth.Redacted
	}
	return text
}

func unknownCommand(cmd *cli.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands {
		names = append(names, c.Name)
	}
	return misuseOf(cmd, "there is no command %q%s", shownArgument(name), config.Suggest(name, names))
}

// reword returns the error of a command for the library's error about an invalid flag.
func reword(p *Process, cmd *cli.Command, err error) error {
	if len(cmd.Commands) > 0 && cmd.NArg() > 0 { // a flag of a misspelled command
		return unknownCommand(cmd, cmd.Args().First())
	}
	message := err.Error()
	if name, ok := strings.CutPrefix(message, "flag provided but not defined: -"); ok {
		return unknownFlag(cmd, typed(p.Args, name))
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
	}
	return "must be true or false"
}

// typed returns the flag of that name as the command line args has it: the library's error
// lacks one or two dashes at its beginning.
func typed(args []string, name string) string {
	for _, arg := range args {
		flag, _, _ := strings.Cut(strings.TrimSpace(arg), "=")
		if flag == "-"+name || flag == "--"+name {
			return flag
		}
	}
	return "--" + name
}

// unknownFlag returns the error for a flag with its dashes.
func unknownFlag(cmd *cli.Command, flag string) error {
	name := strings.TrimLeft(flag, "-")
	if name == "jwt-secret" {
		return misuseOf(cmd, "there is no flag --jwt-secret, since others could read it off the command line; "+
			"use JWT_SECRET or --jwt-secret-file")
	}
	var names []string
	for _, flag := range cmd.Flags {
		names = append(names, "--"+flag.Names()[0])
	}
	return misuseOf(cmd, "there is no flag %s%s", flag, config.Suggest("--"+name, names))
}
