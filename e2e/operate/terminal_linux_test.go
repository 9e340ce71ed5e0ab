package operate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/terminal"
	"plantstore/internal/conformance"
	"plantstore/internal/must"
)

// TestTerminalCloses checks that a server that was started on a terminal exits when the terminal
// closes, although SIGHUP makes other servers reload.
func TestTerminalCloses(t *testing.T) {
	t.Parallel()
	cmd := plantstore.Command(t, t.TempDir(), []string{"ADDR=127.0.0.1:0"}, "serve")
	session := terminal.Start(t, cmd)
	session.Await(t, "get a token")
	must.Do(t, cmd.Process.Signal(syscall.SIGHUP))
	session.Await(t, "reloaded")
	must.Do(t, session.Master.Close())
	select {
	case err := <-session.Ended:
		if err != nil {
			t.Errorf("the server exited with %v", err)
		}
	case <-time.After(plantstore.Patience):
		t.Error("the server still runs without its terminal")
	}
}

// TestConformanceOnTerminal checks that conformance shows its progress, then failures in red.
func TestConformanceOnTerminal(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	t.Cleanup(server.Close)
	session := terminal.Start(t, plantstore.Command(t, t.TempDir(), []string{"TOKEN=x"}, "conformance", "--url", server.URL))
	line := session.Await(t, "\x1b[31mFAIL\x1b[0m  C1.")
	if want := fmt.Sprintf("/%d)", len(conformance.Cases())); !strings.Contains(line, want) {
		t.Errorf("%q, want a progress bar with %q", line, want)
	}
}
