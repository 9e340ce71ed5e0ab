package browse_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"plantstore/internal/browse"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/storage"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// serve serves a site without a store. stop ends it.
func serve(t *testing.T) (site *browse.Site, stop func()) {
	t.Helper()
	site, err := browse.Listen(t.Context(), 0, func(context.Context) (*storage.Store, string, func() error, error) {
		return nil, "", nil, os.ErrNotExist
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- site.Run(ctx) }()
	return site, func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		site.Close()
	}
}

// TestConnectionLimit checks that connections beyond the limit wait until another ends.
func TestConnectionLimit(t *testing.T) {
	t.Parallel()
	site, stop := serve(t)
	defer stop()
	address, _, _ := strings.Cut(strings.TrimPrefix(site.Link(), "http://"), "/")
	var conns []net.Conn
	for range 101 {
		conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
		defer func() { _ = conn.Close() }()
		conns = append(conns, conn)
	}
	respond := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, "GET /icon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			return err
		}
		response, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	answered := make(chan error, 1)
	go func() { answered <- respond(conns[100]) }()
	select {
	case err := <-answered:
		t.Fatalf("a response on the connection beyond the limit: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	_ = conns[0].Close()
	if err := <-answered; err != nil {
		t.Error(err)
	}
}
