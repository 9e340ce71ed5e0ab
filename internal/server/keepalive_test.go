package server

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// post is a POST to path with these header fields and body.
func post(path, body string, lines ...string) string {
	return "POST " + path + " HTTP/1.1\r\nHost: x\r\n" + strings.Join(append(lines, "", ""), "\r\n") + body
}

func chunked(path, body string) string { return post(path, body, "Transfer-Encoding: chunked") }

func sized(path, body string) string {
	return post(path, body, fmt.Sprintf("Content-Length: %d", len(body)))
}

// TestKept checks that the connection stays open, and the next request is handled, whether it
// is pipelined or follows the response.
func TestKept(t *testing.T) {
	t.Parallel()
	s := start(t)
	blankLines := "\n\r\n\n\n\r\n"
	for name, text := range map[string]string{
		"no body":             host(),
		"body":                good,
		"empty body":          sized("/", ""),
		"body of empty lines": sized("/", blankLines),
		"large body":          sized("/", strings.Repeat("0123456789\n", 50_000)),
		"body like a request": sized("/", host()),
		"no response but 200": host()[:4] + "/nothing" + host()[5:],
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(text)
			c.reply(http.MethodPost)
			c.send(goodLast).wantEcho(goodEcho())
			c.wantEnd()
		})
		t.Run(name+" pipelined", func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			go func() { _, _ = io.WriteString(c, text+text+goodLast) }()
			c.reply(http.MethodPost)
			c.reply(http.MethodPost)
			c.wantEcho(goodEcho())
			c.wantEnd()
		})
	}
}

// TestClosedAfterResponse checks requests after which the start of the next request is
// uncertain: the following bytes are never parsed as one, and the response announces that the
// connection closes.
func TestClosedAfterResponse(t *testing.T) {
	t.Parallel()
	const smuggled = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, row := range map[string]struct {
		text string
		code int
	}{
		"size is not a number": {chunked("/", "zz\r\n"), 400},
		"negative size":        {chunked("/", "-1\r\n"), 400},
		"huge size":            {chunked("/", "fffffffffffffffff\r\n"), 400},
		"empty size":           {chunked("/", "\r\n"), 400},
		"bare LF after size":   {chunked("/", "2\nhi\r\n0\r\n\r\n"), 400},
		"CR within size":       {chunked("/", "2\r1\r\nhi\r\n"), 400},
		"long extension":       {chunked("/", "2;"+strings.Repeat("a", 8000)+"\r\nhi\r\n0\r\n\r\n"), 400},
		"many extensions":      {chunked("/", strings.Repeat("1;"+strings.Repeat("a", 2000)+"\r\nh\r\n", 20)), 400},
		"chunk beyond size":    {chunked("/", "2\r\nhihi\r\n0\r\n\r\n"), 400},
		"bad trailer":          {chunked("/", "0\r\nnonsense\r\n\r\n"), 400},
		"long trailer":         {chunked("/", "0\r\nX: "+strings.Repeat("a", 8000)+"\r\n\r\n"), 400},
		"trailer":              {chunked("/", "2\r\nhi\r\n0\r\nX: y\r\n\r\n"), 0},
		"trailer of bare LF":   {chunked("/", "2\r\nhi\r\n0\r\nX: y\n\n"), 0},
		"both lengths":         {post("/", "2\r\nhi\r\n0\r\n\r\n", "Content-Length: 13", "Transfer-Encoding: chunked"), 0},
		"both, other order":    {post("/", "0\r\n\r\n", "TRANSFER-ENCODING: chunked", "content-length: 5"), 0},
		"chunks in HTTP/1.0":   {"POST / HTTP/1.0\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n", 0},
		"both in HTTP/1.0":     {"POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi", 0},
		"chunks":               {chunked("/", "2\r\nhi\r\n3\r\n!!!\r\n0\r\n\r\n"), 0},
		"no chunks":            {chunked("/", "0\r\n\r\n"), 0},
		"chunk extension":      {chunked("/", "2;a=b\r\nhi\r\n0\r\n\r\n"), 0},
		"unread chunks":        {chunked("/early", "2\r\nhi\r\n0\r\n\r\n"), 401},
		"unread bad chunks":    {chunked("/early", "zz\r\n"), 401},
		"unread body":          {sized("/early", "hi"), 401},
		"unread large body":    {sized("/early", strings.Repeat("a", 1<<20)), 401},
		"unread, 100-continue": {post("/early", "", "Content-Length: 2", "Expect: 100-continue"), 401},
		"client wants it":      {goodLast, 0},
		"HTTP/1.0":             {"POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi", 0},
		"HTTP/1.0 keep-alive":  {"POST / HTTP/1.0\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", 0},
		"HTTP/1.0, no length":  {"GET / HTTP/1.0\r\n\r\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t)
			c := s.dial(t)
			go func() { _, _ = io.WriteString(c, row.text+smuggled) }()
			r := c.reply(http.MethodPost)
			if row.code == 0 && r.StatusCode != http.StatusOK {
				t.Errorf("status %d %q, want 200", r.StatusCode, r.body)
			}
			if row.code != 0 && !strings.HasPrefix(r.body, fmt.Sprintf(`{"error":%d,`, row.code)) {
				t.Errorf("response %q, want error %d", r.body, row.code)
			}
			if !r.Close {
				t.Errorf("header %v, want Connection: close", r.Header)
			}
			c.wantEnd()
			if served := s.paths(); slices.Contains(served, "/smuggled") {
				t.Errorf("served %q", served)
			}
		})
	}
}

// TestEarlyResponseBeforeBody checks that a slow body does not delay a response that is sent
// before it.
func TestEarlyResponseBeforeBody(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, text := range []string{post("/early", "h", "Content-Length: 2"), chunked("/early", "2\r\nh")} {
		c := s.dial(t).send(text)
		c.wantError(401)
		c.wantEnd()
	}
}

func TestContinue(t *testing.T) {
	t.Parallel()
	s := start(t)
	c := s.dial(t).send(post("/", "", "Content-Length: 2", "Expect: 100-Continue"))
	if r := c.reply(http.MethodPost); r.StatusCode != http.StatusContinue {
		t.Fatalf("status %d, want 100", r.StatusCode)
	}
	c.send("hi" + goodLast).wantEcho(echo{http.MethodPost, "/", "hi"})
	c.wantEcho(goodEcho())

	// Expect: 100-continue has no effect in HTTP/1.0 or without a body.
	c = s.dial(t).send("POST / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\nhi")
	c.wantEcho(echo{http.MethodPost, "/", "hi"})
	c = s.dial(t).send(host("Expect: 100-continue"))
	c.wantEcho(echo{http.MethodGet, "/", ""})
}

func TestOptionsOfTheServer(t *testing.T) {
	t.Parallel()
	c := start(t).dial(t).send("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n")
	c.wantEcho(echo{http.MethodOptions, "*", ""})
}
