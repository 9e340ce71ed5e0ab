package server

import (
	"net/http"
	"strings"
	"testing"
)

// allowedOrigin is the one that echoOrigin allows.
const allowedOrigin = "https://docs.test"

// echoOrigin is a [Config.CORSHeader] that shows what it was asked.
func echoOrigin(origin string) http.Header {
	if origin != allowedOrigin {
		return http.Header{"Vary": {"Origin"}}
	}
	return http.Header{"Vary": {"Origin"}, "Access-Control-Allow-Origin": {origin}}
}

// Each refusal carries the header of CORS, for the origin of its own request and
// no other (C3.19).
func TestRefusalsHaveCORSHeader(t *testing.T) {
	t.Parallel()
	s := start(t, func(_ *site, c *Config) { c.CORSHeader = echoOrigin })
	const origin = "Origin: " + allowedOrigin
	long := "X: " + strings.Repeat("a", 3<<20)
	lines := func(n int) string { return strings.Repeat("X: a\r\n", n-1) + "X: a" }
	for name, row := range map[string]struct {
		text    string
		allowed bool
	}{
		"417":                       {host(origin, "Expect: x"), true},
		"501":                       {host(origin, "Transfer-Encoding: gzip"), true},
		"505":                       {"GET / HTTP/9.9\r\n" + origin + "\r\n\r\n", true},
		"431, origin first":         {host(origin, long), true},
		"431, origin last":          {host(long, origin), true},
		"431, request line":         {"GET /" + long[3:] + " HTTP/1.1\r\n" + origin + "\r\n\r\n", true},
		"431, lines, origin first":  {host(origin, lines(200)), true},
		"431, lines, origin last":   {host(lines(200), origin), true},
		"431, lines, origin far":    {host(lines(200_000), origin), true},
		"431, lines, two origins":   {host(lines(200), origin, origin), false},
		"431, lines, too far":       {host(lines(800_000), origin), false},
		"431, lines, no origin":     {host(lines(200)), false},
		"431, no origin":            {host(long), false},
		"431, cut short":            {"GET /" + long[3:] + " HTTP/1.1\r\nHost: x\r\n" + origin, false},
		"any case, more space":      {host("oRIGIN: \t "+allowedOrigin+" \t", "Expect: x"), true},
		"panic":                     {strings.Replace(host(origin), "GET /", "GET /panic", 1), true},
		"cut short after it":        {"GET / HTTP/1.1\r\n" + origin + "\r\n", true},
		"cut short in it":           {"GET / HTTP/1.1\r\n" + origin, false},
		"of the one before":         {host(origin) + host("Expect: x"), false},
		"after another":             {host("Origin: https://other.test") + host(origin, "Expect: x"), true},
		"two":                       {host(origin, origin, "Expect: x"), false},
		"longer":                    {host(origin+".evil.test", "Expect: x"), false},
		"too long, begins the same": {host(origin+strings.Repeat(" ", 600)+"x", "Expect: x"), false},
		"longer name":               {host("Origins: "+allowedOrigin, "Expect: x"), false},
		"none":                      {host("Expect: x"), false},
	} {
		t.Run(name, func(t *testing.T) {
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
				t.Errorf("answer %s, want error 431", r.body)
			}
			got := r.Header.Get("Access-Control-Allow-Origin")
			if (got == allowedOrigin) != row.allowed || r.Header.Get("Vary") != "Origin" {
				t.Errorf("header %v, want the origin allowed: %t", r.Header, row.allowed)
			}
			c.wantEnd()
		})
	}
}
