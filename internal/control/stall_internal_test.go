package control

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/must"
	"plantstore/storage"
)

// An endlessSnapshotter writes until it fails, and reports when.
type endlessSnapshotter struct {
	storage.Engine // nil but for Snapshot

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

// A pipeListener accepts one connection, which is a pipe.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error { l.once.Do(func() { close(l.closed) }); return nil }

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Net: "unix"} }

// TestStalledClientIsCutOff checks that a client that stops reading a snapshot is disconnected;
// one that reads slowly is not. It is not an error of the server.
func TestStalledClientIsCutOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		listener := &pipeListener{conns: make(chan net.Conn, 1), closed: make(chan struct{})}
		near, far := net.Pipe()
		listener.conns <- far
		failed := make(chan time.Time, 1)
		var log strings.Builder
		server := Start(listener, storage.New(endlessSnapshotter{failed: failed}, nil, storage.Limits{}, storage.Options{ReadOnly: true}), Options{Requests: http.NotFoundHandler(), MaxBodyBytes: 1 << 20, Logger: slog.New(slog.NewTextHandler(&log, nil))})
		must.Get(io.WriteString(near, "GET /snapshot HTTP/1.1\r\nHost: plantstore\r\n\r\n"))(t)
		for range 10 { // each longer than the server's buffers
			if _, err := io.ReadFull(near, make([]byte, 4*bufferSize)); err != nil {
				t.Fatalf("a client that takes a little is cut off: %v", err)
			}
			time.Sleep(stallTime * 2 / 3)
		}
		select {
		case at := <-failed:
			t.Errorf("a client that takes a little is cut off at %v", at)
		default:
		}
		stalled := time.Now()
		time.Sleep(2 * stallTime)
		select {
		case at := <-failed:
			if took := at.Sub(stalled); took > stallTime {
				t.Errorf("it was cut off after %v, want at most %v", took, stallTime)
			}
		default:
			t.Error("a stalled client is not disconnected")
		}
		_ = near.Close()
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if !strings.Contains(log.String(), `level=WARN msg="snapshot failed"`) {
			t.Errorf("the log is %q", log.String())
		}
	})
}
