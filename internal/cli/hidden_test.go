package cli_test

import (
	"strings"
	"testing"
)

// TestTokensAreNotLogged checks that a token is not in the log, wherever in a request it was put
// (C4.25).
func TestTokensAreNotLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startServer(t, "plantstore", []string{"LOG_LEVEL=debug"})
	base, issued := s.ready(t).BaseURL, token(t, nil)
	signature := issued[strings.LastIndex(issued, ".")+1:]
	for _, body := range []string{`{"id":1,"name":"x","$T":1,"$T":2}`, `{"$T": bad}`, `{"id":"$T","name":["$T"]}`, `$T`, `{"id":1,"name":"$T"}`} {
		post(t, base, issued, strings.ReplaceAll(body, "$T", issued))
	}
	for _, line := range []string{
		"GET /$T HTTP/1.1", "$T / HTTP/1.1", "POST /plants?access_token=$T HTTP/1.1", "GET / $T", "$T",
		"POST /plants HTTP/1.1\r\nAuthorization: Bearer x$T", "POST /plants HTTP/1.1\r\nContent-Type: $T", "POST /plants HTTP/1.1\r\n$T: x",
		"POST /plants HTTP/1.1\r\nTransfer-Encoding: $T", "POST /plants HTTP/1.1\r\nOrigin: $T",
		"POST /plants HTTP/1.1\r\nTraceparent: $T\r\nX-Request-Id: $T\r\nUser-Agent: $T",
	} {
		if errorOf(t, base, strings.ReplaceAll(line, "$T", issued)+"\r\nHost: x\r\nConnection: close\r\n\r\n") == 0 {
			t.Errorf("%s: no Error", line)
		}
	}
	logged := s.first + s.log()
	if n := strings.Count(logged, "\n"); n < 15 {
		t.Fatalf("%d lines are logged:\n%s", n, logged)
	}
	if at := strings.Index(logged, signature[:8]); at >= 0 {
		t.Fatalf("a token is logged: …%s", logged[max(0, at-300):at+8])
	}
}
