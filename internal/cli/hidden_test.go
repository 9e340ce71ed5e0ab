package cli_test

import (
	"strings"
	"testing"
)

// TestTokensAreNotLogged checks that no piece of a token is in the log, wherever in
// a request it was put (C4.25), but for the subject of a token.
func TestTokensAreNotLogged(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startServer(t, "plantstore", []string{"LOG_LEVEL=debug"})
	base, issued := s.ready(t).BaseURL, token(t, nil)
	_, secretPart, _ := strings.Cut(issued, ".") // the part before it is the same in each
	escaped := strings.ReplaceAll(issued, ".", "%2E")
	filler := strings.Repeat("x", 100)
	for i, body := range []string{
		`{"id":1,"name":"x","$T":1,"$T":2}`,
		`{"id":1,"name":"x","a $T":1,"a $T":2}`,
		`{"id":1,"name":"x","` + filler + `$T":1,"` + filler + `$T":2}`,
		`{"$T": bad}`, `{"` + filler + `.$T": bad}`, `{"$T":"\ud800"}`, `{"$T":{"$T":[1,`,
		`{"id":"$T","name":["$T"]}`, `$T`, `"$T"`, `{"id":1,"name":"$T"}`, `{"id":1,"name":"another"}`,
	} {
		status, response := post(t, base, issued, strings.ReplaceAll(body, "$T", issued))
		if (i == 10) != (status == 200) {
			t.Errorf("%s: %d %s", body, status, response)
		}
	}
	for _, line := range []string{
		"GET /$T HTTP/1.1", "$T / HTTP/1.1", "POST /plants?access_token=$T HTTP/1.1", "GET / $T", "$T", "$E / HTTP/1.1", "GET /$E HTTP/1.1", "GET / HTTP/1.1\r\nUser-Agent: $E", "GET /$P HTTP/1.1", "POST /plants HTTP/1.1\r\nAuthorization: $T",
		"POST /plants HTTP/1.1\r\nAuthorization: Bearer x$T", "POST /plants HTTP/1.1\r\nContent-Type: $T", "POST /plants HTTP/1.1\r\n$T: x",
		"POST /plants HTTP/1.1\r\nTransfer-Encoding: $T", "POST /plants HTTP/1.1\r\nContent-Length: $T", "POST /plants HTTP/1.1\r\nOrigin: $T",
		"POST /plants HTTP/1.1\r\nTraceparent: $T\r\nX-Request-Id: $T\r\nUser-Agent: $T", "POST /plants HTTP/1.1\r\nExpect: $T",
	} {
		if errorOf(t, base, strings.NewReplacer("$T", issued, "$E", escaped, "$P", secretPart).Replace(line)+"\r\nHost: x\r\nConnection: close\r\n\r\n") == 0 {
			t.Errorf("%s: no Error", line)
		}
	}
	logged := s.first + s.log()
	if n := strings.Count(logged, "\n"); n < 25 {
		t.Fatalf("%d lines are logged:\n%s", n, logged)
	}
	const piece = 8
	for i := range len(secretPart) - piece {
		if at := strings.Index(logged, secretPart[i:i+piece]); at >= 0 {
			t.Fatalf("a piece of the token is logged: …%s", logged[max(0, at-300):at+piece])
		}
	}
}
