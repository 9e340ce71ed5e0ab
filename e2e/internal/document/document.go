// Package document reads the blocks of Markdown documents, and runs their commands.
package document

import (
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/tools"
)

// Blocks returns the contents of the blocks of a text in a language.
func Blocks(text, language string) (blocks []string) {
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		blocks = append(blocks, block[1])
	}
	return blocks
}

// A Step is a command, and its output according to a document; "" if that does not show it.
type Step struct{ Command, Output string }

// Console returns the steps in a block in the language console: a command follows "$ ", and its output follows it.
func Console(block string) (steps []Step) {
	for step := range strings.SplitSeq("\n"+block, "\n$ ") {
		if command, output, _ := strings.Cut(step, "\n"); command != "" {
			steps = append(steps, Step{command, output})
		}
	}
	return steps
}

// Run runs steps in one bash in the directory dir, with the addresses replaced. Each must succeed, and print the output
// that the document shows.
func Run(t *testing.T, dir string, env []string, addresses *strings.Replacer, steps []Step) {
	t.Helper()
	script := []string{"set -e -o pipefail"}
	for _, step := range steps {
		script = append(script, addresses.Replace(step.Command), `printf '\0'`)
	}
	bash := exec.CommandContext(t.Context(), tools.Require(t, "bash"), "-c", strings.Join(script, "\n"))
	bash.Dir, bash.Env = dir, env
	printed, err := bash.Output()
	outputs := strings.Split(string(printed), "\x00")
	if err != nil {
		exit := new(exec.ExitError)
		_ = errors.As(err, &exit) // else it has not run
		last := min(len(outputs), len(steps)) - 1
		t.Fatalf("$ %s\nfailed: %v\n%s%s", steps[last].Command, err, outputs[last], exit.Stderr)
	}
	for i, step := range steps {
		want := strings.TrimSpace(step.Output)
		if diff := cmp.Diff(want, strings.TrimSpace(outputs[i])); want != "" && diff != "" {
			t.Errorf("$ %s\nprints (-text +got):\n%s", step.Command, diff)
		}
	}
}
