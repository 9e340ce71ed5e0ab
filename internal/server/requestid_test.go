package server

import (
	"strings"
	"testing"
)

// A refusal carries the X-Request-Id of its request, if that has one sane one of
// its own (C1.6).
func TestRefusalKeepsRequestID(t *testing.T) {
	t.Parallel()
	s := start(t)
	const id = "my-id.7_A"
	for name, row := range map[string]struct {
		text string
		kept bool
	}{
		"417":                  {host("X-Request-Id: "+id, "Expect: x"), true},
		"no Host":              {"GET / HTTP/1.1\r\nX-Request-Id: " + id + "\r\n\r\n", true},
		"505":                  {"GET / HTTP/9.9\r\nHost: x\r\nX-Request-Id:" + id + "\r\n\r\n", true},
		"any case, more space": {host("x-REQUEST-id: \t "+id+" \t", "Expect: x"), true},
		"after another":        {host("X-Request-Id: other") + host("X-Request-Id: "+id, "Expect: x"), true},
		"line ends in LF":      {"GET / HTTP/1.1\nX-Request-Id: " + id + "\n\n", true},
		"panic":                {strings.Replace(host("X-Request-Id: "+id), "GET /", "GET /panic", 1), true},
		"of the one before":    {host("X-Request-Id: "+id) + host("Expect: x"), false},
		"two":                  {host("X-Request-Id: "+id, "X-Request-Id: "+id, "Expect: x"), false},
		"not sane":             {host("X-Request-Id: "+id+" x", "Expect: x"), false},
		"too long":             {host("X-Request-Id: "+id+strings.Repeat("x", 200), "Expect: x"), false},
		"cut short":            {"GET / HTTP/1.1\r\nX-Request-Id: " + id, false},
		"longer name":          {host("X-Request-Id2: "+id, "Expect: x"), false},
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
			if got := r.Header.Get("X-Request-Id"); (got == id) != row.kept || got == "" {
				t.Errorf("X-Request-Id %q", got)
			}
		})
	}
}
