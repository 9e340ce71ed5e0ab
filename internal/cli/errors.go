package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v3"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/misspell"
	"plantstore/storage"
)

// The exit codes.
const (
	exitOK       = 0
	exitFailure  = 1 // failure, or check found corruption
	exitMisuse   = 2 // invalid command line or configuration
	exitFindings = 3 // corruption or bad lines
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

func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return misuseBy(errors.Join(fmt.Errorf(format, args...), errors.New("see: "+cmd.FullName()+" --help")))
}

func (p *Process) usageError(ctx context.Context, cmd *cli.Command, err error, _ bool) error {
	if len(cmd.Commands) > 0 && cmd.NArg() > 0 { // the flag of a misspelled command
		return arguments(0, 0)(ctx, cmd)
	}
	if name, ok := strings.CutPrefix(err.Error(), "flag provided but not defined: -"); ok {
		return p.unknownFlag(cmd, name)
	}
	for term, reason := range map[string]string{
		"strconv.ParseInt:": "must be an integer of 64 bits", "strconv.ParseUint:": "must be a number from 0 to 65535",
		"parse error": "must be true or false", "time:": "must be a duration, such as 90s or 24h",
	} {
		if flag, _, found := strings.Cut(err.Error(), ": "+term); found { // the library quotes the terms of Go
			return misuseOf(cmd, "%s: %s", dashed(flag), reason)
		}
	}
	return misuseOf(cmd, "%s", dashed(err.Error()))
}

// dashed returns a message of the library with the usual form of a flag.
func dashed(text string) string { return strings.Replace(text, " for flag -", " for flag --", 1) }

// unknownFlag returns the error of a flag that a command does not have.
func (p *Process) unknownFlag(cmd *cli.Command, name string) error {
	given := "-" + name
	if slices.ContainsFunc(p.Args, func(arg string) bool { return strings.HasPrefix(arg, "--"+name) }) {
		given = "--" + name
	}
	hint := didYouMean(name, cli.SuggestFlag(cmd.Flags, name, false))
	if cmd.Name == "serve" && name == "port" { // PORT has no flag
		hint = didYouMean("addr", "--addr")
	}
	_ = cmd.Walk(func(below *cli.Command) error { // an error ends it
		if !slices.ContainsFunc(below.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) }) {
			return nil
		}
		hint = fmt.Sprintf(": flags follow their command, such as %s --%s", below.FullName(), name)
		return errors.ErrUnsupported
	})
	return misuseOf(cmd, "flag provided but not defined: %s%s", given, hint)
}

// arguments returns a check that a command has least to most arguments, none of which is empty,
// as an unset shell variable is. It also rejects unknown commands. No error repeats an argument,
// which may be a URL with a password (C4.25).
func arguments(least, most int) cli.ArgValidatorFunc {
	return func(_ context.Context, cmd *cli.Command) error {
		given := cmd.Args().Slice()
		switch {
		case cmd.Name == "help": // the library checks its argument
			return nil
		case len(cmd.Commands) > 0 && len(given) > 0:
			return misuseOf(cmd, "there is no such command%s", didYouMean(given[0], cli.SuggestCommand(cmd.Commands, given[0])))
		case len(given) < least || len(given) > most:
			return misuseOf(cmd, "%s takes %s after its flags, but got %s",
				cmd.FullName(), cmp.Or(cmd.ArgsUsage, "no arguments"), counted(int64(len(given)), "argument", "arguments"))
		case slices.Contains(given, ""):
			return misuseOf(cmd, "%s takes %s after its flags, but got an empty one", cmd.FullName(), cmd.ArgsUsage)
		}
		return nil
	}
}

// didYouMean returns the end of an error message that suggests a name, if it is near the given one: the
// library has a suggestion for anything.
func didYouMean(given, name string) string {
	if name == "" || !misspell.Near(given, strings.TrimLeft(name, "-")) {
		return ""
	}
	return ": did you mean " + name + "?"
}
