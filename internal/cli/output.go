package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/storage"
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

// sayNothing explains an empty output to a person.
func sayNothing(p *Process, text string) {
	if logging.IsTerminal(p.Stdout) {
		fmt.Fprintln(p.Stderr, text)
	}
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

// newProgress returns a progress bar up to a number, or for an unknown number of plants if that is -1. It is
// visible if stderr is a terminal, without --quiet.
func newProgress(p *Process, cmd *cli.Command, end int64, options ...progressbar.Option) *progressbar.ProgressBar {
	if end < 0 {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString("plants"))
	}
	return progressbar.NewOptions64(end, append(options,
		progressbar.OptionSetVisibility(!cmd.Bool("quiet") && logging.IsTerminal(p.Stderr)),
		progressbar.OptionSetWriter(logging.Underlying(p.Stderr)), // it moves the cursor
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
	)...)
}
