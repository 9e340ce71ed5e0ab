package cli_test

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"plantstore/internal/cli"
	"plantstore/internal/must"
)

// columns is the maximum width of a help text.
const columns = 120

// commands returns the names of all commands that the help lists, as "plants list", and "".
func commands(t *testing.T) []string {
	t.Helper()
	names := []string{""}
	for _, above := range []string{"", "plants", "completion"} {
		_, listed, _ := strings.Cut(output(t, nil, append(strings.Fields(above), "--help")...), "\nCOMMANDS:\n")
		listed, _, _ = strings.Cut(listed, "\n\n")
		for line := range strings.Lines(listed) {
			names = append(names, strings.TrimSpace(above+" "+strings.Trim(strings.Fields(line)[0], ",")))
		}
	}
	if len(names) < 20 {
		t.Fatalf("the help lists only %q", names)
	}
	return names
}

// TestGeneratedHelp checks that the help of each command fits the width of a terminal and has examples.
func TestGeneratedHelp(t *testing.T) {
	t.Parallel()
	for _, name := range commands(t) {
		if name == "help" || strings.HasPrefix(name, "completion ") { // texts of the library
			continue
		}
		text := output(t, nil, append(strings.Fields(name), "--help")...)
		must.Generate(t, "testdata/help/"+strings.ReplaceAll(cmp.Or(name, "plantstore"), " ", "-")+".txt", text)
		if !strings.Contains(text, "\n   Examples:\n") {
			t.Errorf("help of %s: no examples", name)
		}
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(line) > columns {
				t.Errorf("help of %s: wider than %d columns: %s", name, columns, line)
			}
		}
	}
	for _, args := range []string{"", "-h", "help"} {
		if got := output(t, nil, strings.Fields(args)...); got != output(t, nil, "--help") {
			t.Errorf("plantstore %s does not print the help", args)
		}
	}
	for _, name := range []string{"token", "plants", "plants list"} {
		if got := output(t, nil, append([]string{"help"}, strings.Fields(name)...)...); got != output(t, nil, append(strings.Fields(name), "--help")...) {
			t.Errorf("help %s prints:\n%s", name, got)
		}
	}
}

// TestOutputCannotBeWritten checks that a command fails if its output, such as the help, cannot be
// written.
func TestOutputCannotBeWritten(t *testing.T) {
	t.Parallel()
	closed := must.Get(os.Create(filepath.Join(t.TempDir(), "closed")))(t)
	must.Do(t, closed.Close())
	for _, command := range []string{"", "--help", "help", "help serve", "plants", "plants list --help", "completion zsh", "version", "openapi", "config", "token"} {
		var stderr strings.Builder
		code := runProcess(t.Context(), cli.Process{Environ: []string{"JWT_SECRET=" + secret}, Stdout: closed, Stderr: &stderr}, strings.Fields(command)...)
		if want := "plantstore: write " + closed.Name() + ": "; code != 1 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("plantstore %s: exit code %d, want 1 and %s\n%s", command, code, want, stderr.String())
		}
	}
}
