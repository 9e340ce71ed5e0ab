package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/storage"
)

type exitError struct {
	error
	code int
}

func (e *exitError) Unwrap() error { return e.error }

// misuseBy returns err as a misuse: an invalid command line or configuration. Each joined error
// is printed on its own line. It returns nil for nil.
func misuseBy(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{err, exitMisuse}
}

func misuse(format string, args ...any) error { return misuseBy(fmt.Errorf(format, args...)) }

// findings returns the error of a command other than check for corruption or bad lines.
func findings(format string, args ...any) error {
	return &exitError{fmt.Errorf(format, args...), exitFindings}
}

func exitCode(err error) int {
	if coded, ok := errors.AsType[*exitError](err); ok {
		return coded.code
	}
	if errors.As(err, new(*config.InvalidError)) || errors.Is(err, storage.ErrURL) {
		return exitMisuse
	}
	if errors.Is(err, storage.ErrCorrupt) {
		return exitFindings
	}
	return exitFailure
}

// interrupted is the message for an error that a signal has caused.
const interrupted = "interrupted"

// printError prints the final error. After a signal it prints "interrupted" for the causes of ctx.
func printError(ctx context.Context, p *Process, err error) {
	causes := strings.NewReplacer()
	if ctx.Err() != nil {
		causes = strings.NewReplacer(context.Cause(ctx).Error(), interrupted, context.Canceled.Error(), interrupted)
	}
	for _, line := range messageLines(err) {
		_, _ = io.WriteString(p.Stderr, p.Name+": "+logging.Line(causes.Replace(line))+"\n") // best effort
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
