//go:build unix

package certificate_test

import (
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"plantstore/internal/certificate"
	"plantstore/internal/certtest"
)

// TestWatchLeavesPipes checks that a key from a pipe, which has nothing more to read, is not read
// again.
func TestWatchLeavesPipes(t *testing.T) {
	t.Parallel()
	cert, key := certtest.New(t).Issue(t.TempDir(), time.Now().Add(time.Hour))
	text, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	if _, err := writer.Write(text); err != nil { // it fits into the pipe
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	l := new(log)
	files, err := certificate.Load(cert, fmt.Sprintf("/dev/fd/%d", reader.Fd()), nil, slog.New(slog.NewTextHandler(l, nil)))
	if err != nil {
		t.Fatal(err)
	}
	files.Watch(t.Context()) // it returns
	if logged := l.take(); logged != "" {
		t.Errorf("it logs %s", logged)
	}
}
