package cli

import (
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/logging"
)

// printResult prints the result of a command: value as JSON with --json, no output with
// --quiet, otherwise a line for people.
func printResult(w io.Writer, cmd *cli.Command, value any, format string, args ...any) error {
	line := logging.Line(fmt.Sprintf(format, args...))
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

// printLink prints a URL, as a hyperlink on a terminal that has them.
func printLink(p *Process, url string) error {
	_, err := fmt.Fprintln(logging.Underlying(p.Stdout), logging.Hyperlink(p.Stdout, url, p.environ()["TERM"]))
	return err
}

// counted returns a number with the singular or plural that follows it.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// newProgress returns the progress bar of a command that reads size bytes, or an unknown
// number of plants if size is -1. It is visible if stderr is a terminal, without --quiet.
func newProgress(p *Process, cmd *cli.Command, size int64) *progressbar.ProgressBar {
	options := []progressbar.Option{
		progressbar.OptionSetVisibility(logging.IsTerminal(p.Stderr) && !cmd.Bool("quiet")),
		progressbar.OptionSetWriter(logging.Underlying(p.Stderr)), // it moves the cursor
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
	}
	if size >= 0 {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString("plants"))
	}
	return progressbar.NewOptions64(size, options...)
}
