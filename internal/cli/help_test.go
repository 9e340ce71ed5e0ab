package cli_test

import (
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"plantstore/internal/config"
	"plantstore/internal/testkit"
)

// columns is how wide a help text may be.
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
		for line := range strings.Lines(text) {
			if utf8.RuneCountInString(line) > columns {
				t.Errorf("help of %s: wider than %d columns: %s", name, columns, line)
			}
		}
	}
}

// The help of serve has every option that has a flag, with its name in the
// environment, its default and its purpose.
func TestHelpShowsOptions(t *testing.T) {
	t.Parallel()
	help := output(t, nil, "serve", "--help")
	for _, o := range config.Options() {
		if o.Flag == "" {
			continue
		}
		preset := ""
		if o.Default != "" && !o.Bool {
			preset = " (default: " + o.Default + ")"
		}
		value := "( \\S+)?"
		if o.Bool {
			value = ""
		}
		want := `\n   --` + o.Flag + value + regexp.QuoteMeta(preset+" [$"+o.Env+"]\n      "+strings.ReplaceAll(o.Help, "`", "")+"\n")
		if !regexp.MustCompile(want).MatchString(help) {
			t.Errorf("the help of serve lacks %s", want)
		}
	}
}

// lookShell returns the path of a shell. Without it the test is skipped loudly,
// but with CI=true it fails.
func lookShell(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	testkit.NotChecked(t, fmt.Sprintf(".ci/tools installs the shell: %v", err))
	return ""
}

func TestCompletion(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"bash", "zsh", "fish", "pwsh"} {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			script := output(t, nil, "completion", shell)
			if !strings.Contains(script, "generate-shell-completion") {
				t.Errorf("this is no completion script:\n%s", script)
			}
			if shell == "pwsh" {
				t.Skip("it has no way to check a script without running it")
			}
			check := exec.CommandContext(t.Context(), lookShell(t, shell), "-n")
			check.Stdin = strings.NewReader(script)
			if out, err := check.CombinedOutput(); err != nil {
				t.Errorf("%s refuses the script: %v\n%s", shell, err, out)
			}
		})
	}
}

// The request of the scripts when Tab is pressed.
func TestCompletionOfFlags(t *testing.T) {
	t.Parallel()
	got := output(t, nil, "serve", "--l", "--generate-shell-completion")
	var flags []string
	for line := range strings.Lines(got) {
		flag, _, _ := strings.Cut(line, ":")
		flags = append(flags, flag)
	}
	if want := "--log-level --log-format"; strings.Join(flags, " ") != want {
		t.Errorf("--l is completed to %q, want %s", flags, want)
	}
	for want, args := range map[string][]string{
		"import":    {"plants", "i"},
		"--dry-run": {"plants", "import", "--d"},
		"--after":   {"plants", "list", "--a"},
	} {
		if got := output(t, nil, append(args, "--generate-shell-completion")...); !strings.Contains("\n"+got, "\n"+want+":") {
			t.Errorf("%q is completed to %q, want %s", args, got, want)
		}
	}
}
