package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/urfave/cli/v3"
)

func newVersion(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Description: "Examples:\n" +
			"  plantstore version",
		Action: func(context.Context, *cli.Command) error {
			return printVersion(p)
		},
	}
}

func printVersion(p *Process) error {
	revision := ""
	if p.Version.Revision != "" {
		revision = " (" + p.Version.Revision + ")"
	}
	_, err := fmt.Fprintf(p.Stdout, "plantstore %s%s %s %s/%s\n",
		p.Version.Release, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}
