package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plantstore/internal/cli"
	"plantstore/internal/config"
)

// columns is the maximum width of a help text.
const columns = 100

// commands returns the names of all commands that the help of the root lists, and of their
// subcommands, as "plants list".
func commands(t *testing.T) []string {
	t.Helper()
	names := commandsBelow(t)
	for _, name := range names {
		for _, below := range commandsBelow(t, name) {
			if name != "completion" { // its subcommands have no separate help
				names = append(names, name+" "+below)
			}
		}
	}
	if len(names) < 14 {
		t.Fatalf("the help lists only %q", names)
	}
	return names
}

// commandsBelow returns the names of the commands that the help of one lists.
func commandsBelow(t *testing.T, name ...string) (names []string) {
	t.Helper()
	_, listed, _ := strings.Cut(output(t, nil, append(name, "--help")...), "\nCOMMANDS:\n")
	listed, _, _ = strings.Cut(listed, "\n\n")
	for line := range strings.Lines(listed) {
		names = append(names, strings.Fields(line)[0])
	}
	return names
}

func TestHelpTexts(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"plantstore": output(t, nil, "--help")}
	for _, name := range commands(t) {
		path := strings.Fields(name)
		texts[name] = output(t, nil, append(path, "--help")...)
		for _, args := range [][]string{slices.Concat(path, []string{"-h"}), slices.Concat([]string{"help"}, path)} {
			if got := output(t, nil, args...); got != texts[name] {
				t.Errorf("plantstore %q does not print the help of %s", args, name)
			}
		}
	}
	for _, args := range [][]string{{}, {"-h"}, {"help"}} {
		if got := output(t, nil, args...); got != texts["plantstore"] {
			t.Errorf("plantstore %q does not print the help", args)
		}
	}
	for name, text := range texts {
		checkGolden(t, "help/"+strings.ReplaceAll(name, " ", "-")+".txt", text)
		if n := strings.Count(text, "\n"); n > lines {
			t.Errorf("help of %s: %d lines, want at most %d", name, n, lines)
		}
		if !strings.Contains(text, "xamples:\n") && name != "plantstore" {
			t.Errorf("help of %s: no examples", name)
		}
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(line) > columns {
				t.Errorf("help of %s: wider than %d columns: %s", name, columns, line)
			}
		}
	}
}

// TestHelpBelow checks that a command with subcommands has its own help command.
func TestHelpBelow(t *testing.T) {
	t.Parallel()
	for args, name := range map[string]string{
		"plants help": "plants", "plants help list": "plants list", "completion help": "completion", "completion help fish": "completion fish",
	} {
		if got, want := output(t, nil, strings.Fields(args)...), output(t, nil, append(strings.Fields(name), "--help")...); got != want {
			t.Errorf("plantstore %s prints\n%s\nwant the help of %s:\n%s", args, got, name, want)
		}
	}
}

// lines is the maximum number of lines of a help text: one screen.
const lines = 45

// TestHelpShowsOptions checks that help options describes every option with its name, its
// default and its usage, and the help of serve has every flag.
func TestHelpShowsOptions(t *testing.T) {
	t.Parallel()
	help, serve := output(t, nil, "help", "options"), output(t, nil, "serve", "--help")
	for _, o := range config.Options() {
		flag, preset := "", ""
		if o.Flag != "" {
			flag = "  --" + o.Flag
			if !regexp.MustCompile(`\s--` + o.Flag + `\s`).MatchString(serve) {
				t.Errorf("the help of serve lacks --%s", o.Flag)
			}
			if env := strings.ToUpper(strings.ReplaceAll(o.Flag, "-", "_")); env != o.Env {
				t.Errorf("according to the help --%s is %s, but it is %s", o.Flag, env, o.Env)
			}
		}
		if o.Default != "" && !o.Bool {
			preset = "  (default: " + o.Default + ")"
		}
		want := "\n   " + o.Env + flag + preset + "\n      " + strings.ReplaceAll(o.Help, "`", "") + "\n"
		if !strings.Contains(help, want) {
			t.Errorf("help options lacks %s", want)
		}
	}
	checkGolden(t, "help/options.txt", help)
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
		"serve --l":                 "--log-level --log-format",
		"serve --log-level":         "debug info warn error",
		"serve --docs":              "on off",
		"serve --seed":              "",
		"plants":                    "list get count browse export import reset",
		"plants import --d":         "--dry-run",
		"plants list --a":           "--after",
		"plants list --format":      "table jsonl csv",
		"plants export --format":    "jsonl csv",
		"conformance --format":      "text json junit",
		"openapi --format":          "yaml json",
		"config --jwt-r":            "--jwt-require-exp",
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
	closed, err := os.Create(filepath.Join(t.TempDir(), "closed"))
	if err != nil {
		t.Fatal(err)
	}
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"", "--help", "help", "help serve", "plants", "plants list --help", "help options", "completion zsh", "version", "openapi", "config", "token"} {
		var stderr strings.Builder
		code := cli.Main(t.Context(), cli.Process{
			Args: append([]string{"plantstore"}, strings.Fields(command)...), Environ: []string{"JWT_SECRET=" + secret}, Stdout: closed, Stderr: &stderr,
		})
		if want := "plantstore: write " + closed.Name() + ": "; code != 1 || !strings.HasPrefix(stderr.String(), want) {
			t.Errorf("plantstore %s: exit code %d, want 1 and %s\n%s", command, code, want, stderr.String())
		}
	}
}
