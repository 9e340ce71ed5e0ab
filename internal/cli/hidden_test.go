package cli_test

import (
	"strings"
	"testing"
)

// TestNoSecretIsLogged checks that neither a token nor the secret is in the log, wherever in a request
// it was put (C4.25).
func TestNoSecretIsLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	environ := []string{"LOG_LEVEL=debug", "JWT_SECRET=" + secret}
	s := startServer(t, "plantstore", environ)
	base, issued := s.ready(t).BaseURL, token(t, environ)
	signature := issued[strings.LastIndex(issued, ".")+1:]
	for _, body := range []string{
		`{"id":1,"name":"x","$T":1,"$T":2}`, `{"id":1,"name":null,"` + secret + `":1}`, `{"$T": bad}`, `{"id":"$T","name":["$T"]}`,
		`$T`, `{"id":1,"name":"$T"}`,
	} {
		post(t, base, issued, strings.ReplaceAll(body, "$T", issued))
	}
	for _, line := range []string{
		"GET /$T HTTP/1.1", "$T / HTTP/1.1", "POST /plants?access_token=$T HTTP/1.1", "GET / $T", "$T", "POST /$T/ HTTP/1.1",
		"POST /plants HTTP/9.9\r\nX-Request-Id: $T", "POST /plants HTTP/1.1\r\nAuthorization: Bearer x$T",
		"POST /plants HTTP/1.1\r\nAuthorization: Bearer $T $T", "POST /plants HTTP/1.1\r\nAuthorization: Basic $T",
		"POST /plants HTTP/1.1\r\nAuthorization: $T", "POST /plants HTTP/1.1\r\nAuthorization: Bearer $T\r\nAuthorization: Bearer $T",
		"POST /plants HTTP/1.1\r\nExpect: $T", "POST /plants HTTP/1.1\r\n$T", "POST /plants HTTP/1.1\r\nContent-Type: $T",
		"POST /plants HTTP/1.1\r\n$T: x", "POST /plants HTTP/1.1\r\nTransfer-Encoding: $T", "POST /plants HTTP/1.1\r\nOrigin: $T",
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
	for _, hidden := range []string{signature[:8], secret} {
		if at := strings.Index(logged, hidden); at >= 0 {
			t.Errorf("a secret is logged: …%s", logged[max(0, at-300):at+len(hidden)])
		}
	}
}
