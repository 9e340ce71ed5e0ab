package ci

import (
	"encoding/xml"
	"errors"
	"fmt"
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

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

const actionDir = ".github/actions/conformance"

// An action is the part of a composite action that the tests run.
type action struct {
	Inputs map[string]struct {
		Default string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Steps []struct {
			ID    string            `yaml:"id"`
			Shell string            `yaml:"shell"`
			Env   map[string]string `yaml:"env"`
			Run   string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

// A job runs the shell steps of the action like GitHub.
type job struct {
	t      *testing.T
	dir    string            // directory of the workspace
	values map[string]string // by expression, such as inputs.url
}

func newJob(t *testing.T, inputs map[string]string) *job {
	t.Helper()
	j := &job{t: t, dir: t.TempDir(), values: map[string]string{}}
	for name, value := range inputs {
		j.values["inputs."+name] = value
	}
	t.Cleanup(func() {
		pid, err := strconv.Atoi(j.values["steps.server.outputs.pid"])
		if err != nil {
			return // no server was started
		}
		if server, err := os.FindProcess(pid); err == nil {
			_ = server.Kill() // the process id belongs to no other process
		}
	})
	return j
}

// run runs the steps up to the first failure, and returns its error with its output.
func (j *job) run() error {
	j.t.Helper()
	var a action
	must.Do(j.t, yaml.Unmarshal(tools.ProjectFile(j.t, actionDir+"/action.yml"), &a))
	for name, input := range a.Inputs {
		if _, given := j.values["inputs."+name]; !given {
			j.values["inputs."+name] = input.Default
		}
	}
	temp, output := j.t.TempDir(), filepath.Join(j.t.TempDir(), "output")
	for _, step := range a.Runs.Steps {
		if step.Run == "" {
			continue // another action
		}
		cmd := exec.CommandContext(j.t.Context(), tools.Require(j.t, "bash"), "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		cmd.Dir = j.dir
		cmd.Env = append(os.Environ(), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output,
			"GITHUB_ACTION_PATH="+filepath.Join(tools.Project(j.t), filepath.FromSlash(actionDir)))
		for name, value := range step.Env {
			cmd.Env = append(cmd.Env, name+"="+j.fill(value))
		}
		if printed, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", step.Run, err, printed)
		}
		j.read(step.ID, output)
	}
	return nil
}

// fill replaces the expressions in a value. An unknown one fails the test.
func (j *job) fill(value string) string {
	j.t.Helper()
	return regexp.MustCompile(`\$\{\{ (\S+) \}\}`).ReplaceAllStringFunc(value, func(expression string) string {
		name := strings.Fields(expression)[1]
		known, ok := j.values[name]
		if !ok {
			j.t.Fatalf("unknown expression %s", expression)
		}
		return known
	})
}

// read reads the outputs of a step.
func (j *job) read(step, path string) {
	j.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		j.t.Fatal(err)
	}
	_ = os.Remove(path) // the next step begins without outputs
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		j.values["steps."+step+".outputs."+name] = value
	}
}

// tally returns the numbers of cases and of failures in the report.
func (j *job) tally() (cases, failures int) {
	j.t.Helper()
	text := must.Get(os.ReadFile(filepath.Join(j.dir, "conformance.xml")))(j.t)
	var report struct {
		Suites []struct {
			Tests    int `xml:"tests,attr"`
			Failures int `xml:"failures,attr"`
		} `xml:"testsuite"`
	}
	must.Do(j.t, xml.Unmarshal(text, &report))
	for _, suite := range report.Suites {
		cases, failures = cases+suite.Tests, failures+suite.Failures
	}
	return cases, failures
}

// TestActionStartsServer checks that without inputs, the action builds the program, starts a
// server, checks it, and leaves it running for later steps.
func TestActionStartsServer(t *testing.T) {
	t.Parallel()
	j := newJob(t, nil)
	must.Do(t, j.run())
	if cases, failures := j.tally(); cases < 1000 || failures > 0 {
		t.Errorf("%d cases, %d failures", cases, failures)
	}
	r, err := plantstore.Post(t.Context(), plantstore.NewClient(t), j.values["steps.server.outputs.url"], j.values["steps.server.outputs.token"], `{"id":1}`)
	if err != nil || r.Code != 422 {
		t.Errorf("the server of the action: %+v, %v", r, err)
	}
}

// TestActionFindsDeviation checks that a server that deviates fails the job, and that the report
// shows the deviation. The server is still starting: it drops the first request.
func TestActionFindsDeviation(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	var started atomic.Bool
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !started.Swap(true) {
			panic(http.ErrAbortHandler)
		}
		request := r.Clone(r.Context())
		request.URL.Scheme, request.URL.Host, request.RequestURI = "http", strings.TrimPrefix(server.BaseURL, "http://"), ""
		reply, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		defer func() { _ = reply.Body.Close() }()
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(reply.StatusCode)
		_, _ = fmt.Fprint(w, "{}")
	}))
	defer proxy.Close()
	j := newJob(t, map[string]string{
		"url": proxy.URL, "token": server.Token(), "plantstore": plantstore.Command(t, server.Dir, nil).Path, "arguments": "--rule C1.2",
	})
	err := j.run()
	if exit := new(exec.ExitError); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Fatalf("error %v, want exit code 1", err)
	}
	if cases, failures := j.tally(); failures == 0 {
		t.Errorf("%d cases, %d failures", cases, failures)
	}
}

// actionlint is the linter of workflows.
const actionlint = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"

func TestWorkflows(t *testing.T) {
	t.Parallel()
	workflows, err := filepath.Glob(filepath.Join(tools.Project(t), ".github", "workflows", "*.yml"))
	if err != nil || len(workflows) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	if err := runIn(t, tools.Project(t), nil, "go", append([]string{"run", actionlint}, workflows...)...); err != nil {
		t.Error(err)
	}
}
