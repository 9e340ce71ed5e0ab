package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/storage"
)

// An exitError is an error with the exit code of the program.
type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// misuseBy returns err as a misuse: an invalid command line or configuration. Each joined error
// is printed on its own line.
func misuseBy(err error) error { return &exitError{err, exitMisuse} }

func misuse(format string, args ...any) error { return misuseBy(fmt.Errorf(format, args...)) }

// findings returns the error of a command other than check for corruption or bad lines.
func findings(format string, args ...any) error {
	return &exitError{fmt.Errorf(format, args...), exitFindings}
}

// exitCode returns the exit code for an error of a command.
func exitCode(err error) int {
	if coded, ok := errors.AsType[*exitError](err); ok {
		return coded.code
	}
	if errors.As(err, new(*config.InvalidError)) || errors.Is(err, storage.ErrURL) ||
		errors.As(err, new(cli.ExitCoder)) { // of the library: help on an unknown command
		return exitMisuse
	}
	return exitFailure
}

const (
	// errorTimeout limits the time for printing an error: the reader of stderr may hang.
	errorTimeout = 2 * time.Second
	// signalTimeout is errorTimeout after a signal.
	signalTimeout = 200 * time.Millisecond
)

// printError prints the final error, if stderr accepts it in time. After a signal it prints
// "interrupted" for the causes of ctx.
func printError(ctx context.Context, stderr io.Writer, err error) {
	timeout, causes := errorTimeout, strings.NewReplacer()
	if ctx.Err() != nil {
		timeout = signalTimeout
		causes = strings.NewReplacer(context.Cause(ctx).Error(), errInterrupted.Error(), context.Canceled.Error(), errInterrupted.Error())
	}
	var text strings.Builder
	for _, line := range messageLines(err) {
		text.WriteString("plantstore: " + logging.Line(causes.Replace(line)) + "\n")
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

// messageLines returns the lines of an error: one for each joined error. Other line ends
// come from names or peers and do not separate lines.
func messageLines(err error) []string {
	if coded, ok := err.(*exitError); ok { //nolint:errorlint // a wrapped one is part of a line
		return messageLines(coded.error)
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
