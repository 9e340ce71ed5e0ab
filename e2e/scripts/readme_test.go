package scripts

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// The addresses in the texts: documented, and ephemeral for a server that deletes its plants.
// The tests have one server for both.
const (
	documented = "127.0.0.1:8080"
	ephemeral  = "127.0.0.1:8090"
)

// A step is a command of a text, and its output according to the text; "" if the text does
// not show it.
type step struct{ command, output string }

// stepsOf returns the steps in all blocks of a Markdown text that are marked
// console: a command follows "$ ", and its output follows it.
func stepsOf(markdown string) []step {
	var steps []step
	inside := false
	for line := range strings.Lines(markdown) {
		line = strings.TrimSuffix(line, "\n")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && isCommand:
			steps = append(steps, step{command: command})
		case inside && len(steps) > 0:
			steps[len(steps)-1].output += line + "\n"
		}
	}
	return steps
}

// TestConsoleBlocks checks that every command in a console block of the README prints the output shown: all of
// them, one after the other in one shell, against a fresh server. The commands are unchanged,
// except for the address.
func TestConsoleBlocks(t *testing.T) {
	t.Parallel()
	tools.Require(t, "curl")
	steps := stepsOf(string(tools.ProjectFile(t, "README.md")))
	if len(steps) < 4 {
		t.Fatalf("the text has only the commands %q", steps)
	}
	server := plantstore.Start(t, plantstore.Options{})
	address := strings.TrimPrefix(server.BaseURL, "http://")
	for i, output := range runSteps(t, server.Dir, strings.NewReplacer(documented, address, ephemeral, address), steps) {
		want := strings.TrimSpace(steps[i].output)
		if diff := cmp.Diff(want, strings.TrimSpace(output)); want != "" && diff != "" {
			t.Errorf("$ %s\nprints (-text +got):\n%s", steps[i].command, diff)
		}
	}
	checkIgnored(t, server.Dir)
}

// TestFirstCommand builds the program with the first command of the README.
func TestFirstCommand(t *testing.T) {
	t.Parallel()
	_, rest, _ := strings.Cut(string(tools.ProjectFile(t, "README.md")), "```sh\n")
	command, _, _ := strings.Cut(rest, "\n")
	build, serve, _ := strings.Cut(command, " && ")
	if serve != "./plantstore serve" {
		t.Errorf("the first command is %s", command)
	}
	script := strings.Replace(build, "go build", `go build -o "$0"`, 1) + ` && "$0" version`
	bash := exec.CommandContext(t.Context(), tools.Require(t, "bash"), "-c", script, filepath.Join(t.TempDir(), "plantstore"))
	bash.Dir = tools.Project(t)
	if out, err := bash.CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "plantstore ") {
		t.Errorf("%s: %v\n%s", build, err, out)
	}
}

// checkIgnored checks that, if the directory dir were a clone, git and a build of the image
// would ignore the files that the examples of the README have created in it.
func checkIgnored(t *testing.T, dir string) {
	t.Helper()
	left := must.Get(os.ReadDir(dir))(t)
	for _, entry := range left {
		line := "\n/" + entry.Name() + "\n"
		if entry.IsDir() {
			line = "\n/" + entry.Name() + "/*\n"
		}
		for _, name := range []string{".gitignore", ".dockerignore"} {
			if !strings.Contains(string(tools.ProjectFile(t, name)), line) {
				t.Errorf("%s does not have %s", name, entry.Name())
			}
		}
	}
	if len(left) < 4 { // the program, the data, an export and a backup
		t.Errorf("the examples have created only %v", left)
	}
}

// runSteps runs steps in one bash in the directory dir and returns the stdout of each. All must
// succeed.
func runSteps(t *testing.T, dir string, place *strings.Replacer, steps []step) []string {
	t.Helper()
	const separator = "\x00"
	var script strings.Builder
	script.WriteString("set -e -o pipefail\n")
	for _, s := range steps {
		fmt.Fprintf(&script, "%s\nprintf '\\0'\n", place.Replace(s.command))
	}
	bash := plantstore.Command(t, dir, nil)
	must.Do(t, os.Symlink(bash.Path, filepath.Join(dir, "plantstore")))
	bash.Path, bash.Args = tools.Require(t, "bash"), []string{"bash", "-c", script.String()}
	printed, err := bash.Output()
	outputs := strings.Split(string(printed), separator)
	if err != nil {
		t.Fatalf("$ %s\nfailed: %v", steps[len(outputs)-1].command, err)
	}
	return outputs[:len(steps)]
}
