package operate

import (
	"context"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/must"
	"plantstore/storage"
)

// An endlessSnapshotter writes until it fails, and reports when.
type endlessSnapshotter struct {
	storage.FileEngine // nil but for Snapshot

	failed chan time.Time
}

func (s endlessSnapshotter) Snapshot(_ context.Context, w io.Writer) error {
	for {
		if _, err := w.Write(make([]byte, bufferSize)); err != nil {
			s.failed <- time.Now()
			return err
		}
	}
}

// A pipe is a listener in memory.
type pipe chan net.Conn

func (p pipe) Accept() (net.Conn, error) {
	if conn, open := <-p; open {
		return conn, nil
	}
	return nil, net.ErrClosed
}

func (p pipe) Close() error { close(p); return nil }

func (pipe) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// TestStalledClientIsCutOff checks that a client that stops reading a snapshot is disconnected;
// one that reads slowly is not. It is not an error of the server.
func TestStalledClientIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener, failed := make(pipe, 1), make(chan time.Time, 1)
		near, far := net.Pipe()
		listener <- far
		store := storage.New(endlessSnapshotter{failed: failed}, nil, storage.Limits{}, storage.Options{ReadOnly: true})
		var log strings.Builder
		operator := New(Options{Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		server := Serve(listener, operator.Handler(Socket), nil, func(err error) { t.Error(err) })
		must.Get(io.WriteString(near, "GET /snapshot HTTP/1.1\r\nHost: plantstore\r\n\r\n"))(t)
		stalled := time.Now()
		for range 10 { // each longer than the server's buffers
			if _, err := io.ReadFull(near, make([]byte, 4*bufferSize)); err != nil {
				t.Fatalf("a client that takes a little is cut off: %v", err)
			}
			stalled = time.Now()
			time.Sleep(stallTime * 2 / 3)
		}
		if took := (<-failed).Sub(stalled); took <= stallTime*2/3 || took > stallTime {
			t.Errorf("a stalled client is cut off after %v, want about %v", took, stallTime)
		}
		_ = near.Close()
		must.Do(t, server.Close())
		if !strings.Contains(log.String(), `level=WARN msg="snapshot failed"`) {
			t.Errorf("the log is %q", log.String())
		}
	})
}
