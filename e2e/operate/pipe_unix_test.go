//go:build unix

package operate

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// A server outlives whoever reads its log.
func TestReaderOfLogGone(t *testing.T) {
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
	for id := range int64(50) {
		if !create(t.Context(), transport, ready.BaseURL, token, id) {
			t.Errorf("plant %d is not created", id)
		}
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it ends with %v", err)
	}
}

// Signals that come while the server starts, here while it waits for its seed, do not
// end it; it heeds them when it runs.
func TestSignalsDuringStart(t *testing.T) {
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
	pipe, err := os.OpenFile(seed, os.O_WRONLY, 0) // waits for the reader
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(cmd.Process.Signal(syscall.SIGHUP), cmd.Process.Signal(syscall.SIGUSR1), pipe.Close())
	if err != nil {
		t.Fatal(err)
	}
	missing := []string{`"msg":"ready"`, `"msg":"reloaded"`, "SIGUSR1: the level of the log is changed"}
	for lines := bufio.NewScanner(stderr); len(missing) > 0 && lines.Scan(); {
		missing = slices.DeleteFunc(missing, func(word string) bool { return strings.Contains(lines.Text(), word) })
	}
	if len(missing) > 0 {
		t.Errorf("the log lacks %q", missing)
	}
	if err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait()); err != nil {
		t.Errorf("it ends with %v", err)
	}
}
