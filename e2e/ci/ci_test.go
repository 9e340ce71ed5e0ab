// Package ci tests what the project offers to the CI of others: the GitHub action, and the
// examples of docs/ci.md.
package ci

import (
	"encoding/xml"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"go.yaml.in/yaml/v3"

	"plantstore/e2e/internal/document"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

const (
	actionDir = ".github/actions/conformance"
	// actionlint is the linter of workflows.
	actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
	// fewCases is a part of the kit, which other packages test.
	fewCases = "--rule C1.2"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// An action is the part of a composite action that the tests run.
type action struct {
	Inputs map[string]struct{ Default string }
	Runs   struct {
		Steps []struct {
			ID, Run string
			Env     map[string]string
		}
	}
}

func readAction(t *testing.T) (a action) {
	t.Helper()
	must.Do(t, yaml.Unmarshal(tools.ProjectFile(t, actionDir+"/action.yml"), &a))
	return a
}

// run runs a command in a directory, and returns its error with its output.
func run(t *testing.T, dir string, env []string, name string, args ...string) error {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), tools.Require(t, name), args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", args, err, out)
	}
	return nil
}

// A job is a run of the shell steps of the action, as on GitHub.
type job struct {
	dir    string            // directory of the workspace
	values map[string]string // by expression, such as inputs.url
}

// runAction runs the steps up to the first failure.
func runAction(t *testing.T, inputs map[string]string) (j job, err error) {
	t.Helper()
	a := readAction(t)
	j = job{dir: t.TempDir(), values: map[string]string{}}
	for name, input := range a.Inputs {
		j.values["inputs."+name] = input.Default
	}
	for name, value := range inputs {
		j.values["inputs."+name] = value
	}
	temp, output := t.TempDir(), filepath.Join(t.TempDir(), "output")
	for _, step := range a.Runs.Steps {
		if step.Run == "" {
			continue // another action
		}
		env := []string{
			"RUNNER_TEMP=" + temp, "GITHUB_OUTPUT=" + output,
			"GITHUB_ACTION_PATH=" + filepath.Join(tools.Project(t), filepath.FromSlash(actionDir)),
		}
		for name, value := range step.Env {
			env = append(env, name+"="+j.fill(t, value))
		}
		if err := run(t, j.dir, env, "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run); err != nil {
			return j, err
		}
		text, _ := os.ReadFile(output) // absent if the step has no outputs
		_ = os.Remove(output)
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			j.values["steps."+step.ID+".outputs."+name] = value
		}
	}
	return j, nil
}

// fill replaces the expressions in a value. An unknown one fails the test.
func (j job) fill(t *testing.T, value string) string {
	t.Helper()
	return regexp.MustCompile(`\$\{\{ (\S+) \}\}`).ReplaceAllStringFunc(value, func(expression string) string {
		known, ok := j.values[strings.Fields(expression)[1]]
		if !ok {
			t.Fatalf("unknown expression %s", expression)
		}
		return known
	})
}

// wantReport checks whether the report has failures.
func wantReport(t *testing.T, dir string, fails bool) {
	t.Helper()
	var report struct {
		Cases []struct {
			Failure *string `xml:"failure"`
		} `xml:"testsuite>testcase"`
	}
	must.Do(t, xml.Unmarshal(must.Get(os.ReadFile(filepath.Join(dir, "conformance.xml")))(t), &report))
	failures := 0
	for _, c := range report.Cases {
		if c.Failure != nil {
			failures++
		}
	}
	if len(report.Cases) == 0 || failures > 0 != fails {
		t.Errorf("%d cases, %d failures, want any: %t", len(report.Cases), failures, fails)
	}
}

// TestActionStartsServer checks that without a URL, the action builds the program, starts a
// server, checks it, and leaves it running for later steps.
func TestActionStartsServer(t *testing.T) {
	t.Parallel()
	j, err := runAction(t, map[string]string{"arguments": fewCases})
	if pid, err := strconv.Atoi(j.values["steps.server.outputs.pid"]); err == nil {
		server := must.Get(os.FindProcess(pid))(t)
		defer func() { _ = server.Kill() }() // the process id belongs to no other process
	}
	must.Do(t, err)
	wantReport(t, j.dir, false)
	url, token := j.values["steps.server.outputs.url"], j.values["steps.server.outputs.token"]
	r, err := plantstore.Post(t.Context(), plantstore.NewClient(t), url, token, `{"id":1}`)
	if err != nil || r.Code != 422 {
		t.Errorf("the server of the action: %+v, %v", r, err)
	}
}

// TestActionFindsDeviation checks that a server that deviates fails the job, and that the report
// shows the deviation. The server is still starting: it drops the first request.
func TestActionFindsDeviation(t *testing.T) {
	t.Parallel()
	var started atomic.Bool
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if !started.Swap(true) {
			panic(http.ErrAbortHandler)
		}
	}))
	defer server.Close()
	j, err := runAction(t, map[string]string{
		"url": server.URL, "token": "a.b.c", "plantstore": plantstore.Command(t, "", nil).Path, "arguments": fewCases,
	})
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("error %v, want exit code 1", err)
	}
	wantReport(t, j.dir, true)
}

// TestWorkflowsArePinned checks that workflows use actions of others by their commits, and that no job runs the
// tests, with packages of others, where it has a token that can write or that git keeps.
func TestWorkflowsArePinned(t *testing.T) {
	t.Parallel()
	type step struct {
		Uses, Run string
		With      map[string]any
	}
	files := must.Get(filepath.Glob(filepath.Join(tools.Project(t), ".github", "workflows", "*.yml")))(t)
	tested := 0
	for _, file := range files {
		var workflow struct {
			Permissions map[string]string
			Jobs        map[string]struct {
				Permissions map[string]string
				Steps       []step
			}
		}
		must.Do(t, yaml.Unmarshal(must.Get(os.ReadFile(file))(t), &workflow))
		for name, job := range workflow.Jobs {
			tests, keeps := false, false
			for _, step := range job.Steps {
				if step.Uses != "" && !regexp.MustCompile(`@[0-9a-f]{40}$`).MatchString(step.Uses) {
					t.Errorf("%s: %s is not pinned to a commit", file, step.Uses)
				}
				tests = tests || regexp.MustCompile(`\.ci/run|go test|make (fuzz|check)`).MatchString(step.Run)
				keeps = keeps || strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false
			}
			if !tests {
				continue
			}
			tested++
			maps.Copy(workflow.Permissions, job.Permissions)
			if keeps || len(workflow.Permissions) != 1 || workflow.Permissions["contents"] != "read" {
				t.Errorf("%s: the job %s runs tests with a token: git keeps it: %t, permissions %v", file, name, keeps, workflow.Permissions)
			}
		}
	}
	if tested != 4 {
		t.Errorf("%d jobs run tests, want 4", tested)
	}
}

// blocks returns the blocks of YAML in docs/ci.md.
func blocks(t *testing.T) []string {
	t.Helper()
	return document.Blocks(string(tools.ProjectFile(t, "docs/ci.md")), "yaml")
}

// TestWorkflows checks that the linter accepts the workflows of the project and the examples for
// GitHub, and that these use only existing inputs of the action.
func TestWorkflows(t *testing.T) {
	t.Parallel()
	a, checked := readAction(t), 0
	files := must.Get(filepath.Glob(filepath.Join(tools.Project(t), ".github", "workflows", "*.yml")))(t)
	if len(files) == 0 {
		t.Fatal("no workflows")
	}
	for _, block := range blocks(t) {
		var workflow struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string
					With map[string]any
				}
			}
		}
		must.Do(t, yaml.Unmarshal([]byte(block), &workflow))
		if len(workflow.Jobs) == 0 {
			continue
		}
		files = append(files, filepath.Join(t.TempDir(), "workflow.yml"))
		must.Do(t, os.WriteFile(files[len(files)-1], []byte("on: push\n"+block), 0o600))
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
	}
	must.Do(t, run(t, tools.Project(t), nil, "go", append([]string{"run", actionlint}, files...)...))
	if checked != 2 {
		t.Errorf("%d uses of the action, want 2", checked)
	}
}

// TestGitLabScript checks that the script for GitLab checks a server, with the program built
// from a clone.
func TestGitLabScript(t *testing.T) {
	t.Parallel()
	project, dir := tools.Project(t), t.TempDir()
	if err := run(t, project, nil, "git", "rev-parse", "--verify", "HEAD"); err != nil {
		tools.NotChecked(t, "the project is not a clone")
	}
	script := ""
	for _, block := range blocks(t) {
		var ci struct{ Conformance struct{ Script []string } }
		must.Do(t, yaml.Unmarshal([]byte(block), &ci))
		script += strings.Join(ci.Conformance.Script, "\n")
	}
	server := plantstore.Start(t, plantstore.Options{})
	env := []string{"PLANTSTORE_REPOSITORY=file://" + project, "PLANTS_URL=" + server.BaseURL, "TOKEN=" + server.Token()}
	must.Do(t, run(t, dir, env, "bash", "-e", "-c", strings.Replace(script, "--format", fewCases+" --format", 1)))
	wantReport(t, dir, false)
}
