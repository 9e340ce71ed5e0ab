package cli

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v3"
)

// A misuseError is returned for an invalid command line or configuration.
type misuseError struct{ error }

func (e *misuseError) Unwrap() error { return e.error }

// misuseBy returns err as a misuse. Each joined error is printed on its own line.
func misuseBy(err error) error { return &misuseError{err} }

func misuse(format string, args ...any) error { return misuseBy(fmt.Errorf(format, args...)) }

// misuseOf returns a misuse of a command, with a hint at its help.
func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return misuseBy(errors.Join(fmt.Errorf(format, args...), errors.New("see: "+cmd.FullName()+" --help")))
}

// A findingsError is returned by commands other than check for corruption or bad lines.
type findingsError struct{ error }

func findings(format string, args ...any) error { return &findingsError{fmt.Errorf(format, args...)} }
