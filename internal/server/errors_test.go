package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"plantstore/models"
)

const (
	good     = "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
	goodLast = "POST /good HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi"
)

func goodEcho() echo { return echo{http.MethodPost, "/good", "hi"} }

// A refused is a request that net/http does not pass to the handler.
type refused struct {
	name string
	text string
	code models.Code
}

// get is a GET with these header lines.
func get(lines ...string) string {
	return "GET / HTTP/1.1\r\n" + strings.Join(lines, "\r\n") + "\r\n\r\n"
}

// host is get with a Host.
func host(lines ...string) string { return get(append([]string{"Host: x"}, lines...)...) }

func refusals() []refused {
	huge := "X: " + strings.Repeat("a", 64<<10)
	return []refused{
		{"one word", "nonsense\r\n\r\n", 400},
		{"HTTP/0.9", "GET /\r\n", 400},
		{"no method", " / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"no target", "GET  HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"method is not a token", "G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"space in target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"target without slash", "GET a HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"target with bad escape", "GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"target with control character", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"CONNECT to no port", "CONNECT x:y HTTP/1.1\r\nHost: x\r\n\r\n", 400},
		{"version in lower case", "GET / http/1.1\r\nHost: x\r\n\r\n", 400},
		{"version 1.10", "GET / HTTP/1.10\r\nHost: x\r\n\r\n", 400},
		{"version 1", "GET / HTTP/1\r\nHost: x\r\n\r\n", 400},
		{"version 0.9", "GET / HTTP/0.9\r\nHost: x\r\n\r\n", 505},
		{"version 2.0", "GET / HTTP/2.0\r\nHost: x\r\n\r\n", 505},
		{"version 3.0", "GET / HTTP/3.0\r\nHost: x\r\n\r\n", 505},
		{"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
		{"no Host", get("X: y"), 400},
		{"two Hosts", get("Host: x", "Host: x"), 400},
		{"bad Host", get("Host: a b"), 400},
		{"header without colon", host("nonsense"), 400},
		{"folded line", host("X: a", " b"), 400},
		{"line folded by a tab", host("X: a", "\tb"), 400},
		{"folded request line", get(" X: a", "Host: x"), 400},
		{"line of a space", host("X: a", " "), 400},
		{"folded Transfer-Encoding", host("Transfer-Encoding:", " chunked") + "0\r\n\r\n", 400},
		{"folded Host", get("Host:", " x"), 400},
		{"folded line, bare LF", "GET / HTTP/1.1\nHost: x\n b\n\n", 400},
		{"expectation next to 100-continue", host("Expect: 100-continue, x", "Content-Length: 2") + "hi", 417},
		{"expectation before 100-continue", host("Expect: x ,\t100-continue"), 417},
		{"expectation in a second line", host("Expect: 100-Continue", "Expect: x"), 417},
		{"expectation in a first line", host("Expect: x", "Expect: 100-continue"), 417},
		{"header without name", host(": y"), 400},
		{"space before colon", host("X : y"), 400},
		{"header name is not a token", host("X(Y): z"), 400},
		{"header name not ASCII", host("X\xe9: z"), 400},
		{"NUL in header value", host("X: a\x00b"), 400},
		{"bare CR in header value", host("X: a\rb"), 400},
		{"DEL in header value", host("X: a\x7fb"), 400},
		{"first header line folded", get(" X: y", "Host: x"), 400},
		{"header too large", host(huge), 431},
		{"header of many lines", host(strings.Split(strings.Repeat("X: y,", 20_000), ",")...), 431},
		{"request line too large", "GET /" + huge[3:] + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		{"unknown coding", host("Transfer-Encoding: gzip"), 501},
		{"identity coding", host("Transfer-Encoding: identity"), 501},
		{"empty coding", host("Transfer-Encoding:"), 501},
		{"two codings", host("Transfer-Encoding: gzip, chunked"), 501},
		{"two lines of codings", host("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"), 501},
		{"two lengths", host("Content-Length: 1", "Content-Length: 2"), 400},
		{"negative length", host("Content-Length: -1"), 400},
		{"signed length", host("Content-Length: +1"), 400},
		{"empty length", host("Content-Length:"), 400},
		{"list of lengths", host("Content-Length: 1, 1"), 400},
		{"huge length", host("Content-Length: 9223372036854775808"), 400},
		{"bad length with chunked", host("Content-Length: x", "Transfer-Encoding: chunked"), 400},
		{"bad trailer", host("Transfer-Encoding: chunked", "Trailer: Content-Length"), 400},
		{"unknown expectation", host("Expect: 200-ok"), 417},
		{"unknown expectation with body", host("Expect: 200-ok", "Content-Length: 2") + "hi", 417},
		{"TLS greeting", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400},
		{"SSL 2 greeting", "\x80\x2e\x01\x03\x01", 400},
		{"junk", "\x00\xff\xfe\x01\x80", 400},
		{"junk in the second line", "GET / HTTP/1.1\r\n\x02", 400},
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := start(t)
	for _, r := range refusals() {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			s.dial(t).send(r.text).wantRefusal(r.code)
		})
		t.Run(r.name+" after another", func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(good)
			c.wantEcho(goodEcho())
			c.send(r.text).wantRefusal(r.code)
		})
		t.Run(r.name+" pipelined", func(t *testing.T) {
			t.Parallel()
			c := s.dial(t).send(good + host() + r.text)
			c.wantEcho(goodEcho())
			c.wantEcho(echo{http.MethodGet, "/", ""})
			c.wantRefusal(r.code)
		})
		if len(r.text) > 200 {
			continue // a byte at a time, it would take too long
		}
		t.Run(r.name+" by bytes", func(t *testing.T) {
			t.Parallel()
			c := s.dial(t)
			go sendByBytes(c, r.text)
			c.wantRefusal(r.code)
		})
	}
}

// sendByBytes sends byte by byte until the server closes the connection.
func sendByBytes(c *client, text string) {
	for _, b := range []byte(text) {
		if _, err := c.Write([]byte{b}); err != nil {
			return
		}
	}
}

// TestRefusalOfHEAD checks that an error response to HEAD has the usual header and no body (RFC
// 9110, 9.3.2).
func TestRefusalOfHEAD(t *testing.T) {
	t.Parallel()
	s := start(t)
	for name, before := range map[string]string{
		"alone":              "",
		"after GET":          host(),
		"after a body":       good,
		"after chunks":       "POST /good HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
		"after HEAD":         "HEAD / HTTP/1.1\r\nHost: x\r\n\r\n",
		"after an odd body":  "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\n\n\r\n\n",
		"after an empty one": "POST /good HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
	} {
		for _, line := range []string{
			"HEAD / HTTP/1.1\r\n\r\n", "HEAD / HTTP/9.9\r\n\r\n", "HEAD /%zz HTTP/1.1\r\n\r\n",
			"HEAD / HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\n\r\n", "HEAD /\x00",
		} {
			t.Run(fmt.Sprintf("%s, %q", name, line), func(t *testing.T) {
				t.Parallel()
				c := s.dial(t).send(before + line)
				if before != "" {
					method, _, _ := strings.Cut(before, " ")
					c.reply(method)
				}
				r := c.reply(http.MethodHead)
				c.wantOwnHeader(r)
				if r.StatusCode != http.StatusBadRequest || r.ContentLength <= 0 {
					t.Errorf("status %d, Content-Length %d", r.StatusCode, r.ContentLength)
				}
				c.wantEnd()
			})
		}
	}
}

// TestRefusalAfterHEAD checks that after a HEAD, an error response has a body again.
func TestRefusalAfterHEAD(t *testing.T) {
	t.Parallel()
	c := start(t).dial(t).send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\n\r\n")
	c.reply(http.MethodHead)
	c.wantRefusal(400)
}

// TestRefusalMessages checks that a message names the remedy for the client (C1.5).
func TestRefusalMessages(t *testing.T) {
	t.Parallel()
	if got := testConfig().slowHeader(); got.Code != models.CodeRequestTimeout || !strings.Contains(got.Message, patience.String()) {
		t.Errorf("slowHeader() = %v", got)
	}
	for code, want := range map[models.Code]string{
		0: "request line", 400: "request line", 417: "Expect", 431: "32768 bytes", 500: "outcome is unknown",
		501: "Transfer-Encoding", 503: "shutting down", 505: "HTTP/1.1",
	} {
		got := Refusal(code)
		if wantCode := max(code, 400); got.Code != wantCode || !strings.Contains(got.Message, want) {
			t.Errorf("Refusal(%d) = %v, want %d with %q", code, got, wantCode, want)
		}
	}
}
