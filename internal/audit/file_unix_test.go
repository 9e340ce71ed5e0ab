//go:build unix

package audit_test

import (
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"plantstore/internal/audit"
)

// TestIsLogOfPipe checks that a named pipe without a writer is not an audit log, and that IsLog
// does not wait for the writer.
func TestIsLogOfPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	result := make(chan bool, 1)
	go func() { result <- audit.IsLog(path) }()
	select {
	case is := <-result:
		if is {
			t.Error("a named pipe is an audit log")
		}
	case <-time.After(10 * time.Second):
		t.Fatal("IsLog waits for the writer of a named pipe")
	}
}
