package cli

import (
	"context"
	"slices"

	"github.com/urfave/cli/v3"
)

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
