package cli_test

import (
	"errors"
	"net"
	"path/filepath"
	"testing"

	"plantstore/internal/control"
	"plantstore/internal/must"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// TestHungServerIsQueriedOnce checks that a command queries a server that hangs, or is stopped,
// only once, since each query waits for a response.
func TestHungServerIsQueriedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	store := must.Get(bbolt.OpenFile(path, storage.Options{}))(t)
	listener := must.Get(control.Listen(t.Context(), path))(t)
	accepted := make(chan []net.Conn)
	go func() { // no responses
		var conns []net.Conn
		for {
			conn, err := listener.Accept()
			if err != nil {
				accepted <- conns
				return
			}
			conns = append(conns, conn)
		}
	}()
	r := run(t, nil, "plants", "count", "--storage-url", "bbolt:"+path)
	if err := errors.Join(listener.Close(), store.Close()); err != nil {
		t.Error(err)
	}
	conns := <-accepted
	for _, conn := range conns {
		_ = conn.Close()
	}
	checkFailure(t, r, 1, "the server on "+path+" is starting, or does not respond: try again when it is ready: context deadline exceeded")
	if len(conns) != 1 {
		t.Errorf("the server was queried %d times, want once", len(conns))
	}
}
