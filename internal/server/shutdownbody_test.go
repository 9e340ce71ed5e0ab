package server

import (
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
)

// TestShutdownWithUnreadBody checks that a shutdown does not wait for the rest of a body after
// the response: no token is needed for such a request.
func TestShutdownWithUnreadBody(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, config *Config) { config.ShutdownTimeout = 4 * time.Second })
	c := s.dial(t).send("POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx")
	c.wantError(401)
	s.wantStopped(t, nil)
}

// TestShutdownWithIncompleteBody checks that a shutdown ends a request whose client is silent, or
// sends little at a time, in the middle of its body. One that completes its body is handled.
func TestShutdownWithIncompleteBody(t *testing.T) {
	t.Parallel()
	const timeout = 10 * time.Second
	const refused = `{"error":503,"message":"the server is shutting down`
	for name, test := range map[string]struct {
		sent, rest string // before and after the shutdown begins
		pause      time.Duration
		want       string
		took       time.Duration
	}{
		"nothing":         {post("/", "", "Content-Length: 2"), "", 0, refused, timeout / bodyShare},
		"half":            {post("/", "h", "Content-Length: 2"), "", 0, refused, timeout / bodyShare},
		"no last chunk":   {chunked("/", "2\r\nhi\r\n"), "", 0, refused, timeout / bodyShare},
		"no end of chunk": {chunked("/", "2\r\nhi\r\n0\r\n"), "", 0, refused, timeout / bodyShare},
		"slow":            {post("/", "", "Content-Length: 20"), strings.Repeat("h", 20), 300 * time.Millisecond, refused, timeout / bodyShare},
		"late":            {post("/", "", "Content-Length: 2"), "hi", 300 * time.Millisecond, `"body":"hi"`, 600 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				response, took := bodyAtShutdown(t, timeout, test.sent, test.rest, test.pause)
				if !strings.Contains(response, test.want) || took != test.took {
					t.Errorf("after %v: %q, want %q after %v", took, response, test.want, test.took)
				}
			})
		})
	}
}

// bodyAtShutdown returns the response to a request of which the rest follows byte by byte when the
// shutdown has begun, each byte after a pause.
func bodyAtShutdown(t *testing.T, timeout time.Duration, sent, rest string, pause time.Duration) (response string, took time.Duration) {
	t.Helper()
	near, far := net.Pipe()
	config := testConfigWith(http.HandlerFunc(new(site).serve))
	config.ShutdownTimeout = timeout
	s := New(config)
	s.background.Go((&acceptedConn{Conn: near, server: s}).begin)
	if _, err := io.WriteString(far, sent); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	began := time.Now()
	s.startDrain()
	stopped := make(chan error, 1)
	go func() { stopped <- s.shutdown(t.Context()) }()
	var sending sync.WaitGroup
	sending.Go(func() {
		for _, b := range []byte(rest) {
			time.Sleep(pause)
			_, _ = far.Write([]byte{b}) // fails after the response
		}
	})
	defer sending.Wait()
	first := make([]byte, 4<<10)
	n, err := far.Read(first)
	took = time.Since(began)
	if err != nil {
		t.Error(err)
	}
	last, err := io.ReadAll(far)
	if err != nil {
		t.Error(err)
	}
	_ = far.Close()
	if err := <-stopped; err != nil {
		t.Errorf("the shutdown: %v", err)
	}
	return string(first[:n]) + string(last), took
}

// TestShutdownWithIncompleteBodyInHTTP2 checks the same in HTTP/2.
func TestShutdownWithIncompleteBodyInHTTP2(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(s *site, config *Config) {
		config.ShutdownTimeout = 20 * time.Second
		config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			s.entered <- struct{}{}
			s.serve(w, r)
		})
	})
	go func() {
		<-s.entered
		s.stop()
	}()
	r := doIncomplete(t, webClient(t, authority), s.url("/good"))
	if problem := notError(r.Response, r.body, models.CodeUnavailable); problem != "" {
		t.Errorf("%s in %d %s", problem, r.StatusCode, r.body)
	}
	s.wantStopped(t, nil)
}
