package plantstore

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"plantstore/internal/must"
)

// Patience bounds every wait for a process. It is far longer than any expected wait, so that no
// test depends on the speed of the machine.
const Patience = 30 * time.Second

// Options are the options of a server.
type Options struct {
	// Dir is the working directory, which holds the data; empty means a temporary
	// directory of the test.
	Dir string
	// Env are further variables, as NAME=value.
	Env []string
	// Args are further arguments of serve.
	Args []string
	// TLS is the configuration of the client, if the server uses TLS.
	TLS *tls.Config
	// Binary is another build of the program, made by [Build]. Empty means the build of Main.
	Binary string
}

// A Server is a running plantstore serve.
type Server struct {
	// BaseURL is the URL of the service, on a port that was free, unless the option BASE_URL was
	// set.
	BaseURL string
	// DescriptionURL is the URL of its OpenAPI description.
	DescriptionURL string
	// AdminURL is the URL of its admin listener, on a port that was free.
	AdminURL string
	// Dir is its working directory.
	Dir string

	t      testing.TB
	client *http.Client
	env    []string
	cmd    *exec.Cmd
	exited chan struct{} // closed when the process has exited
	wanted bool          // it is expected to exit
	hung   bool          // it did not exit when it was expected to

	mu  sync.Mutex
	log strings.Builder
}

// Start starts a server and returns when it is ready. Unless the test ends it, it is stopped as
// by [Server.Stop] after the test. The end of its log is printed if the test failed.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := must.Get(Try(t, o))(t)
	return s
}

// Try is [Start] for a server that may exit before it is ready. Then it returns an error with
// the exit status and the log, and no server.
func Try(t testing.TB, o Options) (*Server, error) {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s := &Server{
		Dir: o.Dir, t: t, client: NewTLSClient(t, o.TLS), exited: make(chan struct{}),
		env: append([]string{"ADDR=127.0.0.1:0"}, o.Env...),
	}
	args := append([]string{"serve"}, o.Args...)
	if o.Binary == "" {
		s.cmd = Command(t, s.Dir, s.env, args...)
	} else {
		s.cmd = command(o.Binary, s.Dir, s.env, args...)
	}
	detach(s.cmd)
	stderr := must.Get(s.cmd.StderrPipe())(t)
	must.Do(t, s.cmd.Start())
	ready := make(chan record, 1)
	go s.follow(stderr, ready)
	t.Cleanup(s.finish)
	if err := s.await(ready); err != nil {
		s.Kill()
		return nil, err
	}
	return s, nil
}

// A record holds the fields of a log line that the tests use.
type record struct {
	Message        string `json:"msg"`
	BaseURL        string `json:"base_url"`
	DescriptionURL string `json:"description_url"`
	AdminURL       string `json:"admin_url"`
}

// follow records the log and sends the startup record, until the process exits.
func (s *Server) follow(stderr io.Reader, ready chan<- record) {
	defer close(s.exited)
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		s.mu.Lock()
		s.log.WriteString(line)
		s.mu.Unlock()
		var r record
		if json.Unmarshal([]byte(line), &r) == nil && r.Message == "ready" {
			ready <- r
		}
		if err != nil {
			break
		}
	}
	_ = s.cmd.Wait() // Stop checks the exit code
}

func (s *Server) await(ready <-chan record) error {
	select {
	case r := <-ready:
		s.BaseURL, s.DescriptionURL, s.AdminURL = r.BaseURL, r.DescriptionURL, r.AdminURL
		return nil
	case <-s.exited:
		return fmt.Errorf("the server ended with %v before it was ready:\n%s", s.cmd.ProcessState, s.Log())
	case <-time.After(Patience):
		return fmt.Errorf("the server was not ready after %v:\n%s", Patience, s.Log())
	}
}

// Terminate sends SIGTERM and does not wait.
func (s *Server) Terminate() { _ = s.cmd.Process.Signal(syscall.SIGTERM) } // fails only if the process has exited

// HangUp sends SIGHUP and does not wait.
func (s *Server) HangUp() { _ = s.cmd.Process.Signal(syscall.SIGHUP) } // fails only if the process has exited

// Exited returns a channel that is closed when the process has exited.
func (s *Server) Exited() <-chan struct{} { return s.exited }

// PID returns the process id.
func (s *Server) PID() int { return s.cmd.Process.Pid }

// Log returns the output of the server on stderr so far.
func (s *Server) Log() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Token returns the output of plantstore token with args: an access token for this server.
func (s *Server) Token(args ...string) string {
	s.t.Helper()
	out, err := Command(s.t, s.Dir, s.env, slices.Concat([]string{"token"}, args)...).Output()
	if err != nil {
		s.t.Fatalf("plantstore token: %v", err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// Stop shuts the server down, as SIGTERM does, and fails the test if the exit code is
// not 0.
func (s *Server) Stop() {
	s.t.Helper()
	s.end(shutDown)
	if code := s.cmd.ProcessState.ExitCode(); code != 0 {
		s.t.Errorf("after SIGTERM the server ended with %v, want exit code 0", s.cmd.ProcessState)
	}
}

// Kill kills the server, as kill -9 does, and waits until it has exited.
func (s *Server) Kill() {
	s.t.Helper()
	s.end((*os.Process).Kill)
}

// AwaitExit waits until the server has exited, and returns its exit code, -1 if a signal ended it.
func (s *Server) AwaitExit() int {
	s.t.Helper()
	s.end(func(*os.Process) error { return nil })
	return s.cmd.ProcessState.ExitCode()
}

// end signals the process and waits until it has exited. The process may have exited before.
func (s *Server) end(signal func(*os.Process) error) {
	s.t.Helper()
	s.wanted = true
	_ = signal(s.cmd.Process) // fails only if the process has exited
	select {
	case <-s.exited:
	case <-time.After(Patience):
		s.hung = true
		quit(s.cmd.Process)
		<-s.exited
		s.t.Errorf("the server still ran after %v", Patience)
	}
}

// quit makes a process print the stacks of its goroutines and exit.
func quit(p *os.Process) {
	_ = p.Signal(syscall.SIGQUIT) // fails only if the process has exited
	time.AfterFunc(time.Second, func() { _ = p.Kill() })
}

// Await waits until a condition on another process holds.
func Await(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(Patience); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", Patience, condition)
		}
	}
}

// AwaitLog waits until the log contains a text.
func (s *Server) AwaitLog(text string) {
	s.t.Helper()
	Await(s.t, "logged: "+text, func() bool { return strings.Contains(s.Log(), text) })
}

// finish is the cleanup of Start. A server that has exited by itself fails the test.
func (s *Server) finish() {
	if !s.wanted {
		s.Stop()
	}
	if s.t.Failed() {
		lines, last := strings.SplitAfter(s.Log(), "\n"), 20
		if s.hung {
			last = 1000 // with the stacks
		}
		s.t.Logf("end of the server's log:\n%s", strings.Join(lines[max(0, len(lines)-last):], ""))
	}
}
