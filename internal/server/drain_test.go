package server

import (
	"io"
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
	for name, text := range map[string]string{
		"early response":  sized("/early", filler),
		"chunks":          chunked("/early", "1400000\r\n"+filler+"\r\n0\r\n\r\n"),
		"header":          host("X: " + filler),
		"behind refusal":  "nonsense\r\n\r\n" + filler,
		"behind response": post("/early", "", "Connection: close") + filler,
		"behind preface":  "PRI * HTTP/2.0\r\n\r\n" + filler,
		"expectation":     post("/", filler, "Expect: x", "Content-Length: 20971520"),
		"pipelined":       "POST /early HTTP/1.0\r\n\r\n" + strings.Repeat(good, size/len(good)),
		"malformed chunk": chunked("/", "zz\r\n") + filler,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(text).closeHalf()
			c.wantError(0)
			c.wantEnd()
		})
	}
}

// TestDrainIsBounded checks that a client that never stops sending after the last response is cut
// off.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(chunked("/early", ""))
	c.wantError(401)
	began := time.Now()
	sent, err := io.Copy(c, endless{"a"})
	if took := time.Since(began); err == nil || took > patience-time.Second || sent > maxDrained+64<<20 { // some is in buffers
		t.Errorf("sent %d bytes in %v, %v", sent, took, err)
	}
	s.dial(t).send(good).reply(http.MethodPost)
}
