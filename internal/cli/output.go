package cli

import (
	"context"
	"io"
	"strings"
	"time"

	"plantstore/internal/printable"
)

// printableOutput returns the stdout and stderr of a process without anything in them
// that a terminal acts on. Stdout stays as it is if it is a file or a pipe: programs
// read it. Stderr is for people and for logs, whatever it is.
func printableOutput(p Process) (stdout, stderr io.Writer) {
	stdout, stderr = p.Stdout, printable.NewWriter(p.Stderr)
	if printable.IsTerminal(stdout) {
		stdout = printable.NewWriter(stdout)
	}
	return stdout, stderr
}

const (
	// errorPatience is how long an error may take to be printed: nobody may be reading.
	errorPatience = 2 * time.Second
	// lastPatience is the same after a signal.
	lastPatience = 200 * time.Millisecond
)

// printError prints the error that has ended the program, if stderr accepts it in time.
func printError(ctx context.Context, stderr io.Writer, err error) {
	var text strings.Builder
	for _, line := range messageLines(err) {
		text.WriteString("plantstore: " + printable.Line(inWords(ctx, line)) + "\n")
	}
	patience := errorPatience
	if ctx.Err() != nil {
		patience = lastPatience
	}
	printed := make(chan struct{})
	go func() {
		defer close(printed)
		_, _ = io.WriteString(stderr, text.String()) // best effort
	}()
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-printed:
	case <-enough.C:
	}
}

// inWords returns a line of an error without the library's words for a signal.
func inWords(ctx context.Context, line string) string {
	if ctx.Err() == nil {
		return line
	}
	interrupted := errInterrupted.Error()
	return strings.NewReplacer(context.Cause(ctx).Error(), interrupted, context.Canceled.Error(), interrupted).Replace(line)
}

// messageLines returns the lines in which an error is printed: one for each error
// that was joined. Line ends elsewhere are not ours, but in a name or in what a peer
// has sent.
func messageLines(err error) []string {
	if misused, ok := err.(*misuseError); ok { //nolint:errorlint // a wrapped one is part of a line
		return append(messageLines(misused.cause), misused.hints...)
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []string{err.Error()}
	}
	var texts, lines []string
	for _, e := range joined.Unwrap() {
		texts, lines = append(texts, e.Error()), append(lines, messageLines(e)...)
	}
	if strings.Join(texts, "\n") != err.Error() { // it is a sentence of ours about them
		return []string{err.Error()}
	}
	return lines
}
