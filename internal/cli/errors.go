package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/printable"
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

const (
	// errorTimeout limits the time for printing an error: the reader of stderr may hang.
	errorTimeout = 2 * time.Second
	// signalTimeout is errorTimeout after a signal.
	signalTimeout = 200 * time.Millisecond
)

// printError prints the final error, if stderr accepts it in time.
func printError(ctx context.Context, stderr io.Writer, err error) {
	var text strings.Builder
	for _, line := range messageLines(err) {
		text.WriteString("plantstore: " + printable.Line(withoutCause(ctx, line)) + "\n")
	}
	timeout := errorTimeout
	if ctx.Err() != nil {
		timeout = signalTimeout
	}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		_, _ = io.WriteString(stderr, text.String()) // best effort
	}()
	select {
	case <-printed:
	case <-time.After(timeout):
	}
}

// withoutCause returns a line of an error with "interrupted" for the causes of ctx.
func withoutCause(ctx context.Context, line string) string {
	if ctx.Err() == nil {
		return line
	}
	interrupted := errInterrupted.Error()
	return strings.NewReplacer(context.Cause(ctx).Error(), interrupted, context.Canceled.Error(), interrupted).Replace(line)
}

// messageLines returns the lines of an error: one for each joined error. Other line ends
// come from names or peers and do not separate lines.
func messageLines(err error) []string {
	if misused, ok := err.(*misuseError); ok { //nolint:errorlint // a wrapped one is part of a line
		return messageLines(misused.error)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var texts, lines []string
	for _, e := range joined.Unwrap() {
		texts, lines = append(texts, e.Error()), append(lines, messageLines(e)...)
	}
	if strings.Join(texts, "\n") != err.Error() { // a message that wraps them
		return []string{err.Error()}
	}
	return lines
}
