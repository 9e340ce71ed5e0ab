package cli

import (
	"io"
	"runtime/debug"
	"strings"

	"plantstore/internal/files"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailure  = 1 // failure, or check found corruption
	exitMisuse   = 2 // invalid command line or configuration
	exitFindings = 3 // corruption or bad lines
)

// A Process holds the inputs and outputs of the program. Paths are relative to the working
// directory.
type Process struct {
	Args    []string // as in [os.Args]
	Environ []string // as from [os.Environ]
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version Version

	warn     files.Report // prints a warning, once for each file
	shutdown *shutdown    // limits the time to end after a signal
}

func (p *Process) environ() map[string]string {
	values := make(map[string]string, len(p.Environ))
	for _, line := range p.Environ {
		if name, text, ok := strings.Cut(line, "="); ok {
			values[name] = text
		}
	}
	return values
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
