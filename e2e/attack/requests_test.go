package attack

import (
	"fmt"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// TestTokenIsNotInRequests sends a valid token in every place of a request, and checks that no view of
// the kept requests has a part of it (C4.25).
func TestTokenIsNotInRequests(t *testing.T) {
	t.Parallel()
	s := plantstore.Start(t, plantstore.Options{Args: []string{"--ephemeral", "--faults", "on"}, Env: []string{"LOG_LEVEL=error"}})
	token := s.Token()
	parts := strings.Split(token, ".")
	hidden := strings.Join(parts, "%2E")
	escaped := strings.Join(parts, `\u002e`)
	sent := 0
	send := func(line, body string, fields ...string) {
		p := dialPeer(t, s, token)
		sent++
		p.send(line + "\r\nHost: x\r\n" + strings.Join(append(fields, fmt.Sprint("Content-Length: ", len(body)), "", ""), "\r\n") + body)
		if _, err := p.Receive(); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
	}
	const create, media = "POST /plants HTTP/1.1", "Content-Type: application/json"
	bearer := "Authorization: Bearer " + token
	send(create, `{"id":1,"name":"a"}`, media, bearer)
	send(create, `{"id":1,"name":"a"}`, media, bearer+"x")
	send(create, `{}`, "AUTHORIZATION:bearer   "+token)
	send(create, `{}`, "Authorization: "+token)
	send(create, `{}`, bearer, bearer)
	send(create, `{}`, "Authorization: Bearer\r\n "+token)
	send(create, `{}`, "Cookie: token="+parts[1], "X-Api-Key: "+parts[1], "Proxy-Authorization: Basic "+parts[1])
	send(create, `{}`, bearer, "X-Request-Id: "+token, "Prefer: code=409; token="+token, "User-Agent: "+token)
	send(create, `{}`, bearer, "Prefer: code=431", token+": x")
	send("POST /plants?access_token="+token+" HTTP/1.1", `{}`)
	send("POST /plants?access_token="+hidden+" HTTP/1.1", `{}`)
	send("GET /"+token+" HTTP/1.1", "")
	send("GET /a/"+hidden+"/b HTTP/1.1", "")
	send(token+" /plants HTTP/1.1", "")
	send("GET /plants "+token, "")
	for _, name := range []string{token, escaped, strings.Repeat("x", 8<<10-len(token)-20) + " " + token, " " + token + " " + strings.Repeat("x", 1<<20-1000)} {
		send(create, `{"id":1,"name":"`+name+`"}`, media, bearer)
		send(create, `{"id":"`+name+`"`, media, bearer)
	}
	views := map[string]string{
		"plantstore requests":           plantstore.Run(t, s.Dir, "requests"),
		"plantstore requests --verbose": plantstore.Run(t, s.Dir, "requests", "--verbose"),
		"plantstore requests --json":    plantstore.Run(t, s.Dir, "requests", "--json"),
		"GET /requests":                 s.Get(s.AdminURL + "/requests").Body,
		"plantstore plants browse":      plantstore.Browse(t, s.Dir).Get("api/requests"),
	}
	for name, text := range views {
		if n := strings.Count(text, "REDACTED"); n < 5 {
			t.Errorf("%s has only %d REDACTED:\n%s", name, n, text)
		}
		for _, part := range []string{parts[1], parts[2], parts[2][:20]} {
			if i := strings.Index(text, part); i >= 0 {
				t.Errorf("%s has a part of the token: %.300s", name, text[max(0, i-200):])
			}
		}
	}
	if n := strings.Count(views["GET /requests"], "\n"); n != sent {
		t.Errorf("%d requests are kept, want %d", n, sent)
	}
}
