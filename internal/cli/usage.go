package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v3"
)

// A misuseError is about a command line or a configuration that makes no sense.
type misuseError struct{ message string }

func (e *misuseError) Error() string { return e.message }

func misuse(format string, args ...any) error {
	return &misuseError{fmt.Sprintf(format, args...)}
}

// misuseOf is a misuse of that command: it points to the help.
func misuseOf(cmd *cli.Command, format string, args ...any) error {
	return misuse("%s\nsee: %s --help", fmt.Sprintf(format, args...), cmd.FullName())
}

// checkArguments refuses what follows the flags of a command that takes nothing,
// such as a mistyped command.
func checkArguments(_ context.Context, cmd *cli.Command) error {
	name := cmd.Args().First()
	switch {
	case cmd.NArg() == 0 || cmd.Name == helpName:
		return nil
	case len(cmd.Commands) > 0:
		return unknownCommand(cmd, name)
	}
	return misuseOf(cmd, "%s takes no arguments, but got %q", cmd.FullName(), name)
}

// unknownCommand is what a command gets for one below it that does not exist.
func unknownCommand(cmd *cli.Command, name string) error {
	var names []string
	for _, c := range cmd.Commands {
		names = append(names, c.Name)
	}
	return misuseOf(cmd, "there is no command %q%s", name, didYouMean(name, names))
}

// usageError puts into our words what the library says about a wrong flag.
func usageError(_ context.Context, cmd *cli.Command, err error, _ bool) error {
	if len(cmd.Commands) > 0 && cmd.NArg() > 0 { // a flag of a mistyped command
		return unknownCommand(cmd, cmd.Args().First())
	}
	message := err.Error()
	if name, ok := strings.CutPrefix(message, "flag provided but not defined: -"); ok {
		return unknownFlag(cmd, strings.TrimLeft(name, "-"))
	}
	if name, ok := strings.CutPrefix(message, "flag needs an argument: "); ok {
		return misuseOf(cmd, "%s needs a value", name)
	}
	if what, ok := strings.CutPrefix(message, "invalid value "); ok {
		text, rest, _ := strings.Cut(what, " for flag -")
		name, _, _ := strings.Cut(rest, ":")
		return misuseOf(cmd, "--%s: %s: must be %s", name, text, kindOf(cmd.Value(name)))
	}
	return misuseOf(cmd, "%s", message)
}

// kindOf says in words what the values of a flag are, by one of them.
func kindOf(value any) string {
	switch value.(type) {
	case time.Duration:
		return "a duration, such as 90s or 24h"
	case int, int64:
		return "a whole number of at most 64 bits"
	}
	return "true or false"
}

// unknownFlag is what a flag gets that does not exist.
func unknownFlag(cmd *cli.Command, name string) error {
	if name == "jwt-secret" {
		return misuseOf(cmd, "there is no flag --jwt-secret, since others could read it off the command line; "+
			"use JWT_SECRET or --jwt-secret-file")
	}
	var names []string
	for _, flag := range cmd.Flags {
		names = append(names, "--"+flag.Names()[0])
	}
	return misuseOf(cmd, "there is no flag --%s%s", name, didYouMean("--"+name, names))
}

// didYouMean is a hint at the name that is nearest to a mistyped one, if any is
// near enough.
func didYouMean(name string, names []string) string {
	nearest, least := "", (len(name)+1)/3+1
	for _, n := range names {
		if strings.HasPrefix(n, name+"-") { // the beginning of it
			return fmt.Sprintf("; did you mean %s?", n)
		}
		if d := distance(name, n); d < least {
			nearest, least = n, d
		}
	}
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %s?", nearest)
}

// distance is that of Levenshtein: how many bytes must be put in, taken out or
// changed to make a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
