package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"plantstore/internal/printable"
)

// printableOutput returns the stdout and stderr of a process with terminal control sequences
// escaped. In a file or pipe, stdout is exact, since programs read it.
func printableOutput(p Process) (stdout, stderr io.Writer) {
	stdout, stderr = p.Stdout, printable.NewWriter(p.Stderr)
	if printable.IsTerminal(stdout) {
		stdout = printable.NewWriter(stdout)
	}
	return stdout, stderr
}

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
