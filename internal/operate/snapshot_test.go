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

// TestSlowClientIsCutOff checks that a client that stops reading a snapshot, or reads it too slowly, is
// disconnected; one that reads fast enough with pauses is not. It is not an error of the server.
func TestSlowClientIsCutOff(t *testing.T) {
	t.Parallel()
	const pause = stallTime * 2 / 3
	for _, test := range []struct {
		rounds, size int // what the client reads before each pause, until it stops
		cutOff       time.Duration
	}{
		{5, int(pause.Seconds()) * snapshotRate, 4*pause + stallTime},
		{100, int(pause.Seconds()) * snapshotRate / 10, slowTime + 8*time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			listener, failed := make(pipe, 1), make(chan time.Time, 1)
			near, far := net.Pipe()
			listener <- far
			store := storage.New(endlessSnapshotter{failed: failed}, nil, storage.Limits{}, storage.Options{ReadOnly: true})
			var log strings.Builder
			operator := &Operator{Store: store, Logger: slog.New(slog.NewTextHandler(&log, nil))}
			server := Serve(listener, operator.Handler(Socket), slog.New(slog.DiscardHandler), func(err error) { t.Error(err) })
			must.Get(io.WriteString(near, "GET /snapshot HTTP/1.1\r\nHost: plantstore\r\n\r\n"))(t)
			began := time.Now()
			for range test.rounds {
				if _, err := io.CopyN(io.Discard, near, int64(test.size)); err != nil {
					break
				}
				time.Sleep(pause)
			}
			if took := (<-failed).Sub(began); took < test.cutOff-time.Second || took > test.cutOff+time.Second {
				t.Errorf("the client is cut off after %v, want %v", took, test.cutOff)
			}
			_ = near.Close()
			must.Do(t, server.Close())
			if !strings.Contains(log.String(), `level=WARN msg="snapshot failed" cause="the copy is read too slowly: it needs 1 MiB a second`) {
				t.Errorf("the log is %q", log.String())
			}
		})
	}
}
