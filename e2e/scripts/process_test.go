//go:build unix

package scripts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
)

// patience bounds every wait; it is far above the usual duration.
const patience = time.Minute

// A ready record is the startup record in the log.
type ready struct {
	Message      string `json:"msg"`
	BaseURL      string `json:"base_url"`
	TokenCommand string `json:"token_command"`
}

// start starts a command that runs a server and returns when the server is ready. The channel is
// closed when the command has exited.
func start(t *testing.T, cmd *exec.Cmd) (r ready, ended <-chan struct{}) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run does not forward signals
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	done := make(chan struct{})
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // fails if all have exited
		<-done
	})
	lines := bufio.NewReader(stderr)
	first, _ := lines.ReadString('\n') // up to the end, if there is no such line
	for strings.HasPrefix(first, "go: downloading ") {
		first, _ = lines.ReadString('\n')
	}
	go func() {
		defer close(done)
		_, _ = io.Copy(io.Discard, lines)
		_ = cmd.Wait() // the tests check the state
	}()
	if err := json.Unmarshal([]byte(first), &r); err != nil || r.Message != "ready" {
		t.Fatalf("the server first logs %q: %v", first, err)
	}
	return r, done
}

// A half is a create that the server has received except for the body.
type half struct {
	conn     net.Conn
	response *bufio.Reader
	body     string
}

// begin sends all of a create except its body, and returns when the server waits for it.
func begin(t *testing.T, r ready, token, body string) half {
	t.Helper()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.BaseURL, "http://")))(t)
	t.Cleanup(func() { _ = conn.Close() })
	must.Do(t, conn.SetDeadline(time.Now().Add(patience)))
	fmt.Fprintf(conn, "POST /plants HTTP/1.1\r\nHost: plants\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n", token, len(body))
	h := half{conn, bufio.NewReader(conn), body}
	if status := h.line(t); status != "HTTP/1.1 100 Continue" {
		t.Fatalf("the server sent %s before it had the body", status)
	}
	return h
}

// line returns the next line of the response that is not empty.
func (h half) line(t *testing.T) string {
	t.Helper()
	for {
		line := must.Get(h.response.ReadString('\n'))(t)
		if line = strings.TrimSpace(line); line != "" {
			return line
		}
	}
}

// awaitClosed returns when the server no longer accepts connections.
func awaitClosed(t *testing.T, r ready) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(r.BaseURL, "http://"))
		if err != nil {
			return
		}
		_ = conn.Close()
	}
	t.Fatal("the server still accepts connections")
}

// awaitEnd waits until the process has exited and returns its state.
func awaitEnd(t *testing.T, cmd *exec.Cmd, ended <-chan struct{}) syscall.WaitStatus {
	t.Helper()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the server does not exit")
	}
	return cmd.ProcessState.Sys().(syscall.WaitStatus)
}

// tokenFor runs the command that the server prints, as a person would.
func tokenFor(t *testing.T, r ready, dir string) string {
	t.Helper()
	sh := plantstore.Command(t, dir, nil)
	sh.Path, sh.Args = tools.Require(t, "sh"), []string{"sh", "-c", r.TokenCommand}
	out, err := sh.Output()
	if err != nil {
		t.Fatalf("%s: %v", r.TokenCommand, err)
	}
	return strings.TrimSpace(string(out))
}

// TestSecondSignalEndsAtOnce checks that a second signal ends the server at once, even with
// requests in flight.
func TestSecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	cmd := plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0"}, "serve", "--shutdown-timeout", "1h")
	r, ended := start(t, cmd)
	begin(t, r, tokenFor(t, r, cmd.Dir), `{"id":1,"name":"Monstera"}`)
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	awaitClosed(t, r)
	// It no longer listens, but may still be about to stop catching signals.
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	go func() {
		for {
			select {
			case <-again.C:
				_ = cmd.Process.Signal(syscall.SIGTERM) // fails if it has exited
			case <-ended:
				return
			}
		}
	}()
	if status := awaitEnd(t, cmd, ended); !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("the server exited with %v, want death by the signal", cmd.ProcessState)
	}
}

// TestGoRun runs the first command of the README, changed only in the location of the data. The
// command for a token that the server then prints works, too, and names go run; from the second time
// on the program that go run has built is in the build cache.
func TestGoRun(t *testing.T) {
	t.Parallel()
	if !strings.Contains(string(tools.ProjectFile(t, "README.md")), "```sh\ngo run . serve\n```\n") {
		t.Error("the README does not contain go run . serve")
	}
	for range 2 {
		data := "bbolt:" + filepath.Join(t.TempDir(), "my plants.db")
		cmd := plantstore.Command(t, tools.Project(t), nil)
		cmd.Path, cmd.Args = tools.Require(t, "go"), []string{"go", "run", ".", "serve", "--addr=127.0.0.1:0", "--storage-url", data}
		r, ended := start(t, cmd)
		if want := "go run . token --storage-url '" + data + "'"; r.TokenCommand != want {
			t.Errorf("the command for a token is %s, want %s", r.TokenCommand, want)
		}
		request := begin(t, r, tokenFor(t, r, cmd.Dir), `{"id":1,"name":"Monstera"}`)
		fmt.Fprint(request.conn, request.body)
		if status := request.line(t); status != "HTTP/1.1 200 OK" {
			t.Errorf("the response is %s", status)
		}
		must.Do(t, syscall.Kill(-cmd.Process.Pid, syscall.SIGINT))
		awaitEnd(t, cmd, ended)
	}
}
