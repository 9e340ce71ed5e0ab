package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/schollz/progressbar/v3"
	"github.com/urfave/cli/v3"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/storage"
	"plantstore/storage/bbolt"
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

// newProgress returns the progress bar of a command that reads size bytes, or an unknown
// number of plants if size is -1. It is visible if stderr is a terminal, without --quiet.
func newProgress(p *Process, cmd *cli.Command, size int64) *progressbar.ProgressBar {
	options := progressOptions(p, !cmd.Bool("quiet"))
	if size >= 0 {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionSetPredictTime(true))
	} else {
		options = append(options, progressbar.OptionShowIts(), progressbar.OptionSetItsString("plants"))
	}
	return progressbar.NewOptions64(size, options...)
}

// remedy is the advice for a corrupt database.
const remedy = "restore a backup"

// corruptStore returns err. If that is a *bbolt.CorruptStoreError, it prints the findings and returns
// an error with this message and exit code 3 instead.
func corruptStore(p *Process, err error, format string, args ...any) error {
	var corrupt *bbolt.CorruptStoreError
	if !errors.As(err, &corrupt) {
		return err
	}
	if err := writeFindings(p.Stderr, corrupt.Report); err != nil {
		return err
	}
	return findings(format, args...)
}

func writeFindings(w io.Writer, report storage.Report) error {
	var text strings.Builder
	for _, finding := range report.Corruption {
		text.WriteString(logging.Line(finding) + "\n")
	}
	if report.More > 0 {
		text.WriteString("and " + counted(report.More, "more finding", "more findings") + "\n")
	}
	if report.Plants > 0 || report.Intact() { // else nothing was counted
		text.WriteString(counted(report.Plants, "plant is", "plants are") + " intact, " + counted(report.Findings(), "finding", "findings") + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// standardStream is the file name for stdin or stdout.
const standardStream = "-"

func forceFlag() cli.Flag {
	return &cli.BoolFlag{Name: "force", Usage: "replace an existing FILE, but never a database or a backup", HideDefault: true}
}

// checkOutput rejects a file that exists, or with force one that must not be replaced, before any
// work is done.
func checkOutput(file string, force bool) error {
	if strings.HasSuffix(filepath.ToSlash(file), "/") {
		return misuse("%s is the name of a directory: name a file", file)
	}
	if err := bbolt.MayReplace(file); err != nil {
		return misuseBy(err)
	}
	if _, err := os.Lstat(file); err == nil && !force {
		return misuse("%s exists: name another file, or replace it with --force", file)
	}
	return nil
}

func adviseOutput(err error) error { return app.Advise(err, "create its directory first", "") }

func requireFile(c *config.Config) error {
	if c.Storage.Path == "" {
		return misuse("the plants are not in a file but in %s: use its own tools for copies", c.Storage.Scheme)
	}
	return nil
}

// newCaseProgress returns the progress bar of a command that runs a number of cases, which is set later.
func newCaseProgress(p *Process) *progressbar.ProgressBar {
	return progressbar.NewOptions(1, append(progressOptions(p, true), progressbar.OptionSetPredictTime(false))...)
}

// progressOptions returns the options of all progress bars.
func progressOptions(p *Process, visible bool) []progressbar.Option {
	return []progressbar.Option{
		progressbar.OptionSetVisibility(visible && logging.IsTerminal(p.Stderr)),
		progressbar.OptionSetWriter(logging.Underlying(p.Stderr)), // it moves the cursor
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionClearOnFinish(),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionShowCount(),
		progressbar.OptionFullWidth(),
	}
}
