//go:build unix

package operate

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
)

// TestReaderOfLog checks that a server continues when the reader of its log exits.
func TestReaderOfLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, "serve")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(process.Patience, func() { _ = cmd.Process.Kill() }).Stop()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	var ready struct {
		BaseURL string `json:"base_url"`
	}
	if err != nil || json.Unmarshal([]byte(line), &ready) != nil {
		t.Fatalf("%q, %v", line, err)
	}
	if err := stderr.Close(); err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(run(t, dir, "token"))
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	fillLog(t, transport, ready.BaseURL)
	for id := range int64(50) {
		if !create(t.Context(), transport, ready.BaseURL, token, id) {
			t.Errorf("plant %d was not created", id)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server exited with %v", err)
	}
}

// fillLog makes a server log more than fits into a pipe and the log buffer.
func fillLog(t *testing.T, transport http.RoundTripper, baseURL string) {
	t.Helper()
	for range 500 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, baseURL+"/"+strings.Repeat("x", 8<<10), http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
	}
}

// TestHangupDuringStart checks that SIGHUP during the start of a server, which here waits for its
// seed, does not kill it; it reloads when it runs.
func TestHangupDuringStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed")
	if err := syscall.Mkfifo(seed, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, "serve", "--seed", seed)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(seed, os.O_WRONLY, 0) // the server opens the FIFO and waits
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(cmd.Process.Signal(syscall.SIGHUP), pipe.Close())
	if err != nil {
		t.Fatal(err)
	}
	missing := []string{`"msg":"ready"`, `"msg":"reloaded"`}
	for lines := bufio.NewScanner(stderr); len(missing) > 0 && lines.Scan(); {
		missing = slices.DeleteFunc(missing, func(word string) bool { return strings.Contains(lines.Text(), word) })
	}
	if len(missing) > 0 {
		t.Errorf("the log lacks %q", missing)
	}
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Errorf("the server exited with %v", err)
	}
}
