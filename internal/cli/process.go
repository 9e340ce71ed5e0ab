package cli

import (
	"io"
	"strings"

	"plantstore/internal/config"
	"plantstore/storage"
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
	Name    string   // of the program
	Args    []string // as in [os.Args]
	Environ []string // as from [os.Environ]
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Version Version

	Engines        storage.Engines // the engines of the program
	StorageOptions []config.Option // for the location of the plants, see [config.Options]
}

func (p *Process) options() []config.Option { return config.Options(p.StorageOptions...) }

func (p *Process) environ() map[string]string {
	values := make(map[string]string, len(p.Environ))
	for _, line := range p.Environ {
		if name, text, ok := strings.Cut(line, "="); ok {
			values[name] = text
		}
	}
	return values
}
