package server

import (
	"fmt"
	"io"
	"net/http"
	"testing"
)

// TestReceivedHeader checks that the handler gets each header as it was sent: of pipelined requests with
// and without bodies, however the input is split.
func TestReceivedHeader(t *testing.T) {
	t.Parallel()
	heads := []string{
		"GET / HTTP/1.1\r\nHost: x\r\nx-LOWER:  two spaces \r\nX: 1\r\nx: 2",
		"POST /a HTTP/1.1\r\nContent-Length: 31\r\nHost: x",
		"GET /bare HTTP/1.1\nHost: x\nFolded: a\n b",
		"POST /b HTTP/1.1\r\nHost: x\r\nContent-Length: 2",
		"GET /after-a-blank-line HTTP/1.1\r\nHost: x",
		"POST /c HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked",
	}
	const likeHeader = "GET /body HTTP/1.1\r\nHost: x\r\n\r\n"
	input := heads[0] + "\r\n\r\n" + heads[1] + "\r\n\r\n" + likeHeader + heads[2] + "\n\n" + heads[3] + "\r\n\r\nhi" +
		"\r\n" + heads[4] + "\r\n\r\n" + heads[5] + "\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
	for _, part := range []int{1, 7, 100, len(input)} {
		var got []string
		s := start(t, handler(func(w http.ResponseWriter, r *http.Request) {
			got = append(got, fmt.Sprint(r.Context().Value(HeaderKey{})))
			_, _ = io.Copy(io.Discard, r.Body)
			w.WriteHeader(http.StatusOK)
		}), func(_ *site, c *Config) { c.KeepHeaders = true })
		c := s.dial(t)
		for rest := input; rest != ""; {
			n := min(part, len(rest))
			c.send(rest[:n])
			rest = rest[n:]
		}
		for range heads {
			c.reply()
		}
		c.wantEnd()
		for i, want := range heads {
			if got[i] != want {
				t.Errorf("in parts of %d bytes: header %d is %q, want %q", part, i, got[i], want)
			}
		}
	}
}
