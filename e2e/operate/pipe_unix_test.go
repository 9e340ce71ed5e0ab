//go:build unix

package operate

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestReaderOfLog checks that a server continues when the reader of its log exits.
func TestReaderOfLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, "serve")
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	defer time.AfterFunc(plantstore.Patience, func() { _ = cmd.Process.Kill() }).Stop()
	line, err := bufio.NewReader(stderr).ReadString('\n')
	var ready struct {
		BaseURL string `json:"base_url"`
	}
	if err != nil || json.Unmarshal([]byte(line), &ready) != nil {
		t.Fatalf("%q, %v", line, err)
	}
	must.Do(t, stderr.Close())
	token, client := strings.TrimSpace(plantstore.Run(t, dir, "token")), plantstore.NewClient(t)
	for range 500 { // more than fits into a pipe and the log buffer
		must.Get(plantstore.Do(t.Context(), client, http.MethodGet, ready.BaseURL+"/"+strings.Repeat("x", 8<<10), ""))(t)
	}
	for id := range int64(50) {
		if r, err := plantstore.Post(t.Context(), client, ready.BaseURL, token, fmt.Sprintf(`{"id":%d,"name":"Monstera"}`, id)); err != nil || r.Status != http.StatusOK {
			t.Errorf("plant %d: %+v, %v", id, r, err)
		}
	}
	must.Do(t, cmd.Process.Signal(syscall.SIGTERM))
	if err := cmd.Wait(); err != nil {
		t.Errorf("the server exited with %v", err)
	}
}

// TestHangupDuringStart checks that SIGHUP during the start of a server, which here waits for its
// seed, does not kill it; it reloads when it runs.
func TestHangupDuringStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	seed := filepath.Join(dir, "seed")
	must.Do(t, syscall.Mkfifo(seed, 0o600))
	cmd := plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0"}, "serve", "--seed", seed)
	stderr := must.Get(cmd.StderrPipe())(t)
	must.Do(t, cmd.Start())
	pipe, err := os.OpenFile(seed, os.O_WRONLY, 0) // the server opens the FIFO and waits
	must.Do(t, err)
	err = errors.Join(cmd.Process.Signal(syscall.SIGHUP), pipe.Close())
	must.Do(t, err)
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
