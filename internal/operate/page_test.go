package operate_test

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
	"plantstore/internal/operate"
)

// TestConnectionLimit checks that connections beyond the limit wait until another ends.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	site := must.Get(operate.ListenPage(t.Context(), 0, nil))(t)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- site.Run(ctx) }()
	address, _, _ := strings.Cut(strings.TrimPrefix(site.Link(), "http://"), "/")
	var conns []net.Conn
	for range 101 {
		conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
		defer func() { _ = conn.Close() }()
		conns = append(conns, conn)
	}
	must.Get(io.WriteString(conns[100], "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n"))(t)
	answered := make(chan error, 1)
	go func() {
		_, err := conns[100].Read(make([]byte, 1))
		answered <- err
	}()
	select {
	case err := <-answered:
		t.Fatalf("a response on the connection beyond the limit: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	_ = conns[0].Close()
	must.Do(t, <-answered)
	cancel()
	must.Do(t, <-ended)
}
