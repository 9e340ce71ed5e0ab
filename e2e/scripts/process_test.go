//go:build unix

package scripts

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// A ready record is the startup record in the log.
type ready struct {
	Message      string `json:"msg"`
	BaseURL      string `json:"base_url"`
	TokenCommand string `json:"token_command"`
}

// start starts a command that runs a server and returns when the server is ready. stop ends it by
// SIGINT.
func start(t *testing.T, cmd *exec.Cmd) (r ready, stop func()) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run does not forward signals
	lines := bufio.NewReader(must.Get(cmd.StderrPipe())(t))
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }) // fails if all have exited
	first, _ := lines.ReadString('\n')                                        // up to the end, if there is no such line
	for strings.HasPrefix(first, "go: downloading ") {
		first, _ = lines.ReadString('\n')
	}
	if err := json.Unmarshal([]byte(first), &r); err != nil || r.Message != "ready" {
		t.Fatalf("the server first logs %q: %v", first, err)
	}
	return r, func() {
		must.Do(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // the exit code of go run does not matter
	}
}

// TestGoRun checks that a server that go run has started prints a command for a token that names go run; from
// the second time on the program that go run has built is in the build cache.
func TestGoRun(t *testing.T) {
	t.Parallel()
	for range 2 {
		data := "bbolt:" + filepath.Join(t.TempDir(), "my plants.db")
		cmd, token := plantstore.Command(t, tools.Project(t), nil), plantstore.Command(t, tools.Project(t), nil)
		cmd.Path, cmd.Args = tools.Require(t, "go"), []string{"go", "run", ".", "serve", "--addr=127.0.0.1:0", "--storage-url", data}
		r, stop := start(t, cmd)
		if want := "go run . token --storage-url '" + data + "'"; r.TokenCommand != want {
			t.Errorf("the command for a token is %s, want %s", r.TokenCommand, want)
		}
		token.Path, token.Args = tools.Require(t, "sh"), []string{"sh", "-c", r.TokenCommand} // as a person would
		issued := strings.TrimSpace(string(must.Get(token.Output())(t)))
		a := must.Get(plantstore.Post(t.Context(), plantstore.NewClient(t), r.BaseURL, issued, `{"id":1,"name":"Monstera"}`))(t)
		if a.Status != http.StatusOK {
			t.Errorf("the response is %d %s", a.Status, a.Body)
		}
		stop()
	}
}
