package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// A misuseError is returned for an invalid command line or configuration.
type misuseError struct {
	cause error
	hints []string // lines to print after the cause
}

func (e *misuseError) Error() string {
	return strings.Join(append([]string{e.cause.Error()}, e.hints...), "\n")
}

func (e *misuseError) Unwrap() error { return e.cause }

func misuse(format string, args ...any) error {
	return &misuseError{cause: fmt.Errorf(format, args...)}
}

// misuseBy returns err as a misuse. Each joined error is printed on its own line.
func misuseBy(err error) error { return &misuseError{cause: err} }

// misuseOf returns a misuse of a command, with a hint at its help.
func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return &misuseError{cause: fmt.Errorf(format, args...), hints: []string{"see: " + cmd.FullName() + " --help"}}
}

// A findingsError is returned by commands other than check for corruption or bad lines.
type findingsError struct{ message string }

func (e *findingsError) Error() string { return e.message }

func findings(format string, args ...any) error {
	return &findingsError{fmt.Sprintf(format, args...)}
}
