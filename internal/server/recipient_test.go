package server

import (
	"net/http"
	"strings"
	"testing"
)

// allowedOrigin is the origin that echoOrigin allows.
const allowedOrigin = "https://docs.test"

// echoOrigin is a [Config.CORSHeader] that allows one origin.
func echoOrigin(origin string) http.Header {
	if origin != allowedOrigin {
		return http.Header{"Vary": {"Origin"}}
	}
	return http.Header{"Vary": {"Origin"}, "Access-Control-Allow-Origin": {origin}}
}

// An echoed is a header field of a request that determines a field of the error response.
type echoed struct{ name, value, response string }

func (e echoed) line() string { return e.name + ": " + e.value }

// TestErrorsFitRequest checks that an error response has the X-Request-Id of its request, if it
// is valid (C1.6), and the CORS header for the origin of that request and no other (C3.19).
func TestErrorsFitRequest(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, c *Config) { c.CORSHeader = echoOrigin })
	long := "X: " + strings.Repeat("a", 3<<20)
	lines := func(n int) string { return strings.Repeat("X: a\r\n", n-1) + "X: a" }
	for _, field := range []echoed{
		{"Origin", allowedOrigin, "Access-Control-Allow-Origin"},
		{"X-Request-Id", "my-id.7_A", "X-Request-Id"},
	} {
		line, kept := field.line(), true
		for name, row := range map[string]struct {
			text string
			kept bool
		}{
			"417":                       {host(line, "Expect: x"), kept},
			"501":                       {host(line, "Transfer-Encoding: gzip"), kept},
			"505":                       {"GET / HTTP/9.9\r\n" + line + "\r\n\r\n", kept},
			"no Host":                   {"GET / HTTP/1.1\r\n" + line + "\r\n\r\n", kept},
			"no space":                  {host(strings.Replace(line, ": ", ":", 1), "Expect: x"), kept},
			"line ends in LF":           {"GET / HTTP/1.1\n" + line + "\n\n", kept},
			"431, first":                {host(line, long), kept},
			"431, last":                 {host(long, line), kept},
			"431, request line":         {"GET /" + long[3:] + " HTTP/1.1\r\n" + line + "\r\n\r\n", kept},
			"431, lines, first":         {host(line, lines(200)), kept},
			"431, lines, last":          {host(lines(200), line), kept},
			"431, lines, far":           {host(lines(200_000), line), kept},
			"431, lines, two":           {host(lines(200), line, line), false},
			"431, lines, too far":       {host(lines(800_000), line), false},
			"431, lines, none":          {host(lines(200)), false},
			"431, none":                 {host(long), false},
			"431, cut short":            {"GET /" + long[3:] + " HTTP/1.1\r\nHost: x\r\n" + line, false},
			"any case, more space":      {host(swapCase(field.name)+": \t "+field.value+" \t", "Expect: x"), kept},
			"panic":                     {strings.Replace(host(line), "GET /", "GET /panic", 1), kept},
			"cut short after it":        {"GET / HTTP/1.1\r\n" + line + "\r\n", kept},
			"cut short in it":           {"GET / HTTP/1.1\r\n" + line, false},
			"of the one before":         {host(line) + host("Expect: x"), false},
			"after another":             {host(field.name+": https://other.test") + host(line, "Expect: x"), kept},
			"two":                       {host(line, line, "Expect: x"), false},
			"longer":                    {host(line+".evil.test", "Expect: x"), false},
			"not sane":                  {host(line+" x", "Expect: x"), false},
			"too long":                  {host(line+strings.Repeat("x", 200), "Expect: x"), false},
			"too long, begins the same": {host(line+strings.Repeat(" ", 600)+"x", "Expect: x"), false},
			"longer name":               {host(field.name+"s: "+field.value, "Expect: x"), false},
			"none":                      {host("Expect: x"), false},
		} {
			t.Run(field.name+" "+name, func(t *testing.T) {
				t.Parallel()
				c := s.dial(t).send(row.text).closeHalf()
				r := c.reply("GET")
				if strings.Count(row.text, "GET ") == 2 {
					r = c.reply("GET")
				}
				if problem := notError(r.Response, r.body, 0); problem != "" {
					t.Fatal(problem)
				}
				if strings.HasPrefix(name, "431") && !strings.Contains(r.body, `"error":431`) {
					t.Errorf("response %s, want error 431", r.body)
				}
				if got := r.Header.Get(field.response); (got == field.value) != row.kept ||
					r.Header.Get("X-Request-Id") == "" || r.Header.Get("Vary") != "Origin" {
					t.Errorf("header %v, want the one of the request: %t", r.Header, row.kept)
				}
				c.wantEnd()
			})
		}
	}
}

// swapCase returns an ASCII name with the case of each letter changed.
func swapCase(name string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r|0x20 && r|0x20 <= 'z' {
			return r ^ 0x20
		}
		return r
	}, name)
}
