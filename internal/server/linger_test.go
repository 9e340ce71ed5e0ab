package server

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestResponseOutlivesUnreadInput checks that a client that sends everything before it reads
// gets the response.
func TestResponseOutlivesUnreadInput(t *testing.T) {
	t.Parallel()
	const size = 20 << 20
	s := start(t)
	filler := strings.Repeat("a", size)
	for name, row := range map[string]struct {
		text string
		code int
	}{
		"early response":  {sized("/early", filler), 401},
		"chunks":          {chunked("/early", "1400000\r\n"+filler+"\r\n0\r\n\r\n"), 401},
		"header":          {host("X: " + filler), 431},
		"no HTTP":         {"\x00" + filler, 400},
		"behind refusal":  {"nonsense\r\n\r\n" + filler, 400},
		"behind response": {post("/early", "", "Connection: close") + filler, 401},
		"behind panic":    {host()[:4] + "/panic" + host()[5:] + filler, 500},
		"pipelined":       {"POST /early HTTP/1.0\r\n\r\n" + strings.Repeat(good, size/len(good)), 401},
		"no trailer":      {chunked("/", "zz\r\n") + filler, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(row.text).closeHalf()
			r := c.reply(http.MethodPost)
			if problem := notError(r.Response, r.body, 0); problem != "" || !strings.Contains(r.body, "error") {
				t.Errorf("%s in %q", problem, r.body)
			}
			c.wantEnd()
		})
	}
}

// TestDrainIsBounded checks that discarding input is bounded in time and in bytes.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]time.Duration{"time": time.Millisecond, "bytes": patience} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			near, far := net.Pipe()
			t.Cleanup(func() { _ = far.Close() })
			if name == "bytes" {
				go func() { _, _ = io.Copy(far, endless{}) }()
			}
			ended := make(chan struct{})
			go func() {
				(&acceptedConn{Conn: near}).discard(wait)
				_ = near.Close()
				close(ended)
			}()
			select {
			case <-ended:
			case <-time.After(patience / 2):
				t.Error("still reading")
			}
		})
	}
}

// An endless is an input without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestDrainEndsInTime checks that the time is limited even if the client makes progress.
func TestDrainEndsInTime(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	wrote := make(chan error)
	go func() {
		for {
			if _, err := io.WriteString(far, "a"); err != nil {
				wrote <- err
				return
			}
		}
	}()
	start := time.Now()
	(&acceptedConn{Conn: near}).discard(20 * time.Millisecond)
	if time.Since(start) >= patience {
		t.Error("ended too late")
	}
	_ = near.Close()
	if err := <-wrote; !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the client was still writing: %v", err)
	}
}

// TestLingerWithoutCloseWrite checks that a connection that cannot close its half is closed
// after the response.
func TestLingerWithoutCloseWrite(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	t.Cleanup(func() { _ = far.Close() })
	s := New(testConfigWith(http.NotFoundHandler()))
	defer s.forceClose()
	c := &acceptedConn{Conn: near, server: s}
	go c.lingerOn(errTruncated, recipient{})
	_ = far.SetDeadline(time.Now().Add(patience))
	if response, err := io.ReadAll(far); err != nil || !strings.Contains(string(response), `{"error":400,`) {
		t.Errorf("read %q, %v", response, err)
	}
}

func testConfigWith(h http.Handler) Config {
	config := testConfig()
	config.Handler = h
	return config
}
