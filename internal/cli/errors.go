package cli

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v3"
)

// A misuseError is about a command line or a configuration that makes no sense.
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

// misuseBy is a misuse with the words of err, in a line for each error that it joins.
func misuseBy(err error) error { return &misuseError{cause: err} }

// misuseOf is a misuse of that command: it points to the help.
func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return &misuseError{cause: fmt.Errorf(format, args...), hints: []string{"see: " + cmd.FullName() + " --help"}}
}

// A findingsError says that damage or bad lines kept a command from what it was
// asked for. Of check they are what it was asked for.
type findingsError struct{ message string }

func (e *findingsError) Error() string { return e.message }

func findings(format string, args ...any) error {
	return &findingsError{fmt.Sprintf(format, args...)}
}
