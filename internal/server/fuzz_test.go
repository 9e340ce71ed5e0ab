package server

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"testing"
)

// FuzzConnection sends arbitrary bytes in two pieces. The output is always a sequence of
// complete responses, each 200 or 400 with an Error (C1.3), and the connection ends properly.
func FuzzConnection(f *testing.F) {
	for _, r := range refusedRequests() {
		f.Add([]byte(good+r.text), 3)
	}
	for _, text := range []string{
		"", "\r\n", good, good + good, good + "\r\n" + good, "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n" + host(),
		chunked("/", "2\r\nhi\r\n0\r\nX: y\r\n\r\n") + good, chunked("/early", "zz\r\n") + good,
		post("/", "hi", "Content-Length: 2", "Expect: 100-continue"), post("/panic", "h", "Content-Length: 2"),
		"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n" + good, "H\rEAD ",
	} {
		f.Add([]byte(text), len(text)/2)
	}
	// Not a TCP port: there are not enough for so many connections.
	s := startOn(f, listen(f, "unix", filepath.Join(f.TempDir(), "socket")))
	f.Fuzz(func(t *testing.T, input []byte, cut int) {
		cut = min(max(cut, 0), len(input))
		c := s.dial(t)
		go func() {
			_, _ = c.Write(input[:cut])
			_, _ = c.Write(input[cut:])
			_ = c.Conn.(*net.UnixConn).CloseWrite() //nolint:forcetypeassert // s listens on such a socket
		}()
		all, err := io.ReadAll(c.in)
		if err != nil {
			t.Fatalf("after %q and an error: %v", all, err)
		}
		checkResponses(t, all, bytes.Contains(input, []byte("HEAD ")))
	})
}

// checkResponses checks that all is a sequence of responses. After a HEAD, a response may lack
// its body.
func checkResponses(t *testing.T, all []byte, heads bool) {
	t.Helper()
	for in := bufio.NewReader(bytes.NewReader(all)); ; {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return
		}
		response, err := http.ReadResponse(in, nil) //nolint:bodyclose // to close a body would be to read it
		if err != nil {
			t.Fatalf("%v in %q", err, all)
		}
		if response.StatusCode == http.StatusContinue || heads && bodyMissing(in) {
			continue
		}
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatalf("%v in %q", err, all)
		}
		if problem := notError(response, string(content), 0); problem != "" && response.StatusCode != http.StatusOK {
			t.Fatalf("%s in %q", problem, all)
		}
	}
}

// bodyMissing reports whether the end or another response is next.
func bodyMissing(in *bufio.Reader) bool {
	next, err := in.Peek(len("HTTP/1.1"))
	return err != nil || string(next[:7]) == "HTTP/1."
}
