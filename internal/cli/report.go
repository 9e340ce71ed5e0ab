package cli

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"
)

// jsonFlag is that of the commands whose result a program may want to read.
func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print the result as JSON", HideDefault: true}
}

// report prints the result of a command: value as JSON if --json is given, else
// a line for people, unless they want --quiet.
func report(w io.Writer, cmd *cli.Command, value any, format string, args ...any) error {
	if cmd.Bool("json") {
		line, err := json.Marshal(value)
		if err != nil {
			return err
		}
		return writeLine(w, "%s", line)
	}
	if cmd.Bool("quiet") {
		return nil
	}
	return writeLine(w, format, args...)
}

// counted returns a number and what it is of, or is, in one of two forms.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// A findingsError says that damage or bad lines kept a command from what it was
// asked for. Of check they are what it was asked for.
type findingsError struct{ message string }

func (e *findingsError) Error() string { return e.message }

func findings(format string, args ...any) error {
	return &findingsError{fmt.Sprintf(format, args...)}
}
