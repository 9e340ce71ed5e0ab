package ci

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// blocks returns the blocks of YAML in docs/ci.md.
func blocks(t *testing.T) (found []string) {
	t.Helper()
	text := tools.ProjectFile(t, "docs/ci.md")
	for _, block := range regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllSubmatch(text, -1) {
		found = append(found, string(block[1]))
	}
	return found
}

// runIn runs a command in a directory, and returns its error with its output.
func runIn(t *testing.T, dir string, env []string, name string, args ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return errors.Join(err, errors.New(string(out)))
	}
	return nil
}

// TestGitHubExamples checks that the examples for GitHub use only existing inputs and outputs of
// the action, and that the linter accepts them as workflows.
func TestGitHubExamples(t *testing.T) {
	t.Parallel()
	var a action
	must.Do(t, yaml.Unmarshal(tools.ProjectFile(t, actionDir+"/action.yml"), &a))
	checked := 0
	for _, block := range blocks(t) {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string         `yaml:"uses"`
					With map[string]any `yaml:"with"`
				} `yaml:"steps"`
			} `yaml:"jobs"`
		}
		must.Do(t, yaml.Unmarshal([]byte(block), &workflow))
		if len(workflow.Jobs) == 0 {
			continue
		}
		for _, job := range workflow.Jobs {
			for _, step := range job.Steps {
				if !strings.Contains(step.Uses, actionDir) {
					continue
				}
				checked++
				for name := range step.With {
					if _, known := a.Inputs[name]; !known {
						t.Errorf("the action has no input %s", name)
					}
				}
			}
		}
		path := filepath.Join(t.TempDir(), "workflow.yml")
		must.Do(t, os.WriteFile(path, []byte("on: push\n"+block), 0o600))
		if err := runIn(t, tools.Project(t), nil, "go", "run", actionlint, path); err != nil {
			t.Error(err)
		}
	}
	if checked != 2 {
		t.Errorf("%d uses of the action, want 2", checked)
	}
}

// TestGitLabScript checks that the script for GitLab checks a server, with the program built
// from a clone.
func TestGitLabScript(t *testing.T) {
	t.Parallel()
	project := tools.Project(t)
	if err := runIn(t, project, nil, "git", "rev-parse", "--verify", "HEAD"); err != nil {
		tools.NotChecked(t, "the project is not a clone")
	}
	script := ""
	for _, block := range blocks(t) {
		var ci struct {
			Conformance struct {
				Script []string `yaml:"script"`
			} `yaml:"conformance"`
		}
		must.Do(t, yaml.Unmarshal([]byte(block), &ci))
		script += strings.Join(ci.Conformance.Script, "\n")
	}
	server := plantstore.Start(t, plantstore.Options{})
	j := newJob(t, nil)
	env := []string{"PLANTSTORE_REPOSITORY=file://" + project, "PLANTS_URL=" + server.BaseURL, "TOKEN=" + server.Token()}
	must.Do(t, runIn(t, j.dir, env, tools.Require(t, "bash"), "-e", "-c", script))
	if cases, failures := j.tally(); cases < 1000 || failures > 0 {
		t.Errorf("%d cases, %d failures", cases, failures)
	}
}
