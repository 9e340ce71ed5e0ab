package cli

import (
	"io"
	"runtime/debug"
	"strings"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailure  = 1 // the program could not do what it was asked for
	exitMisuse   = 2 // it was asked for something that does not exist
	exitFindings = 3 // what it was asked to read, copy, compact or import is damaged, or has bad lines
)

// A Process is what the program gets from its surroundings. Files are looked
// for in the working folder.
type Process struct {
	Args    []string // as in [os.Args]
	Environ []string // as from [os.Environ]
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version Version

	// shutdown bounds how long the command may take to end after a signal.
	shutdown *shutdown
}

// environ returns the environment as a map.
func (p *Process) environ() map[string]string {
	values := make(map[string]string, len(p.Environ))
	for _, line := range p.Environ {
		if name, text, ok := strings.Cut(line, "="); ok {
			values[name] = text
		}
	}
	return values
}

// A Version says which program this is.
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
