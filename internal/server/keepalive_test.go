package server

import (
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/models"
)

// TestClosedAfterResponse checks requests after which the start of the next request is
// uncertain: the following bytes are never parsed as one, and the response announces that the
// connection closes.
func TestClosedAfterResponse(t *testing.T) {
	t.Parallel()
	s := start(t)
	const oldKept = "POST / HTTP/1.0\r\nConnection: keep-alive\r\n"
	for name, row := range map[string]struct {
		text string
		code models.Code // 0: no Error
	}{
		"bare LF after size":   {chunked("/", "2\nhi\r\n0\r\n\r\n"), 400},
		"CR within size":       {chunked("/", "2\r1\r\nhi\r\n"), 400},
		"long extension":       {chunked("/", "2;"+strings.Repeat("a", 8000)+"\r\nhi\r\n0\r\n\r\n"), 400},
		"many extensions":      {chunked("/", strings.Repeat("1;"+strings.Repeat("a", 2000)+"\r\nh\r\n", 20)), 400},
		"bad trailer":          {chunked("/", "0\r\nnonsense\r\n\r\n"), 400},
		"long trailer":         {chunked("/", "0\r\nX: "+strings.Repeat("a", 8000)+"\r\n\r\n"), 400},
		"trailer":              {chunked("/", "2\r\nhi\r\n0\r\nX: y\r\n\r\n"), 0},
		"trailer of bare LF":   {chunked("/", "2\r\nhi\r\n0\r\nX: y\n\n"), 0},
		"both lengths":         {post("/", "2\r\nhi\r\n0\r\n\r\n", "Content-Length: 13", "Transfer-Encoding: chunked"), 0},
		"chunks in HTTP/1.0":   {oldKept + "Transfer-Encoding: chunked\r\n\r\n", 0},
		"both in HTTP/1.0":     {oldKept + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi", 0},
		"chunks":               {chunked("/", "2\r\nhi\r\n3\r\n!!!\r\n0\r\n\r\n"), 0},
		"unread chunks":        {chunked("/early", "2\r\nhi\r\n0\r\n\r\n"), 401},
		"unread body":          {sized("/early", "hi"), 401},
		"unread large body":    {sized("/early", strings.Repeat("a", 1<<20)), 401},
		"unread, 100-continue": {post("/early", "", "Content-Length: 2", "Expect: 100-continue"), 401},
		"HTTP/1.0 keep-alive":  {oldKept + "Content-Length: 2\r\n\r\nhi", 0},
	} {
		c := s.dial(t)
		go func() { _, _ = io.WriteString(c, row.text+"GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n") }()
		var r reply
		if row.code != 0 {
			r = c.wantError(row.code)
		} else if r = c.reply(); r.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d %q, want 200", name, r.StatusCode, r.body)
		}
		if !r.Close {
			t.Fatalf("%s: header %v, want Connection: close", name, r.Header)
		}
		c.wantEnd()
		if served := s.paths(); slices.Contains(served, "/smuggled") {
			t.Fatalf("%s: served %q", name, served)
		}
	}
}

// TestResponseOutlivesUnreadInput checks that a client that sends everything before it reads
// gets the response.
func TestResponseOutlivesUnreadInput(t *testing.T) {
	t.Parallel()
	const size = 2 << 20
	s := start(t)
	filler := strings.Repeat("a", size)
	for name, row := range map[string]struct {
		text string
		code models.Code
	}{
		"early response":  {sized("/early", filler), 401},
		"chunks":          {chunked("/early", "200000\r\n"+filler+"\r\n0\r\n\r\n"), 401},
		"header":          {host("X: " + filler), 431},
		"behind refusal":  {"nonsense\r\n\r\n" + filler, 400},
		"behind response": {post("/early", "", "Connection: close") + filler, 401},
		"expectation":     {post("/", filler, "Expect: x", "Content-Length: 2097152"), 417},
		"pipelined":       {"POST /early HTTP/1.0\r\n\r\n" + strings.Repeat(good, size/len(good)), 401},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(row.text).closeHalf()
			c.wantError(row.code)
			c.wantEnd()
		})
	}
}

// TestDrainLastsAsLongAsRequest checks that a client that is slow to send its request gets the response
// to the beginning: the connection is read until the time limit of the request.
func TestDrainLastsAsLongAsRequest(t *testing.T) {
	t.Parallel()
	inBubble(t, func(t *testing.T, s *site) {
		c := s.dial(t).send(post("/early", "h", "Content-Length: 2"))
		c.wantError(401)
		began := time.Now()
		time.Sleep(2 * drainTime)
		c.send("i").wantEnd()
		if took := time.Since(began); took != patience-time.Second {
			t.Errorf("the connection ends after %v, want %v", took, patience-time.Second)
		}
	}, func(_ *site, config *Config) { config.RequestTimeout = patience - time.Second })
}

// TestDrainIsBounded checks that the response comes before the body, and a client that never stops
// sending after it is cut off. TestSlowRequest has the limit in time.
func TestDrainIsBounded(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(chunked("/early", ""))
	c.wantError(401)
	sent, err := io.Copy(c, endless{strings.Repeat("a", 32<<10)})
	if err == nil || errors.Is(err, os.ErrDeadlineExceeded) || sent > 128<<20 { // the limit is 64 MiB, and some is in buffers
		t.Errorf("sent %d bytes: %v", sent, err)
	}
}
