package cli

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/urfave/cli/v3"

	"plantstore/internal/printable"
)

// printResult prints the result of a command: value as JSON with --json, no output with
// --quiet, otherwise a line for people.
func printResult(w io.Writer, cmd *cli.Command, value any, format string, args ...any) error {
	line := printable.Line(fmt.Sprintf(format, args...))
	switch {
	case cmd.Bool("json"):
		text, err := json.Marshal(value)
		if err != nil {
			return err
		}
		line = string(text)
	case cmd.Bool("quiet"):
		return nil
	}
	_, err := fmt.Fprintln(w, line)
	return err
}

// counted returns a number with the singular or plural that follows it.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
