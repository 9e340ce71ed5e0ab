package cli

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"

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
	_, err := fmt.Fprintf(p.Stdout, "%s %s%s %s %s/%s\n",
		p.Name, p.Version.Release, revision, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// A Version is the version of the program.
type Version struct {
	Release  string // such as v1.0.0, or "devel"
	Revision string // of the source, or empty
}

// ReadVersion returns the version that the Go toolchain stamped on the binary.
func ReadVersion() Version {
	v := Version{Release: "devel"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" && info.Main.Version != "(devel)" {
		v.Release = info.Main.Version
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			v.Revision = setting.Value
		}
	}
	return v
}
