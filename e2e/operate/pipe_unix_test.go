//go:build unix

package operate

import (
	"bufio"
	"encoding/json"
	"net/http"
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
