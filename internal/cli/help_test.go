package cli_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"plantstore/internal/cli"
	options "plantstore/internal/config"
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
		checkGolden(t, "help/"+strings.ReplaceAll(cmp.Or(name, "plantstore"), " ", "-")+".txt", text)
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

// TestHelpShowsOptions checks that the help of serve and of config has every option that has a flag.
func TestHelpShowsOptions(t *testing.T) {
	t.Parallel()
	serve, config := output(t, nil, "serve", "--help"), output(t, nil, "config", "--help")
	for _, o := range options.Options() {
		if o.Flag == "" {
			continue
		}
		_, row, _ := strings.Cut(serve, "\n   --"+o.Flag+" ")
		row, _, _ = strings.Cut(row, "\n")
		want := strings.ReplaceAll(o.Help, "`", "")
		if o.Default != "" && !o.Bool {
			want += " (default: " + o.Default + ")"
		}
		if !strings.HasSuffix(row, "  "+want) || !strings.Contains(config, row) {
			t.Errorf("the help of serve or config lacks --%s: %s", o.Flag, want)
		}
		if env := strings.ToUpper(strings.ReplaceAll(o.Flag, "-", "_")); env != o.Env {
			t.Errorf("according to the help --%s is %s, but it is %s", o.Flag, env, o.Env)
		}
	}
}

// lookShell returns the path of a shell. Without it the test is skipped with a message, and
// fails with CI=true.
func lookShell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf(".ci/tools installs the shell: %v", err)
	}
	t.Skipf("NOT CHECKED: .ci/tools installs the shell: %v", err)
	return ""
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "pwsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			script := output(t, nil, "completion", shell)
			if !strings.Contains(script, "generate-shell-completion") {
				t.Errorf("this is not a completion script:\n%s", script)
			}
			if shell == "pwsh" { // it cannot check a script without running it
				return
			}
			check := exec.CommandContext(t.Context(), lookShell(t, shell), "-n")
			check.Stdin = strings.NewReader(script)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s refuses the script: %v\n%s", shell, err, out)
			}
		})
	}
}

// TestCompletionOfWords checks the words that the scripts complete.
func TestCompletionOfWords(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		"serve --log-":              "--log-level --log-format",
		"plants import --d":         "--dry-run",
		"token --ttl 1h --subj":     "--subject",
		"completion":                "bash zsh fish pwsh",
		"plants list --limit 7 --t": "--tag",
	} {
		got := output(t, nil, append(strings.Fields(args), "--generate-shell-completion")...)
		var words []string
		for line := range strings.Lines(got) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), ":")
			words = append(words, word)
		}
		if strings.Join(words, " ") != want {
			t.Errorf("%s is completed to %q, want %s", args, words, want)
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
		code := cli.Main(t.Context(), cli.Process{
			Name: "plantstore", Engines: engines(),
			Args: append([]string{"plantstore"}, strings.Fields(command)...), Environ: []string{"JWT_SECRET=" + secret}, Stdout: closed, Stderr: &stderr,
		})
		if want := "plantstore: write " + closed.Name() + ": "; code != 1 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("plantstore %s: exit code %d, want 1 and %s\n%s", command, code, want, stderr.String())
		}
	}
}
