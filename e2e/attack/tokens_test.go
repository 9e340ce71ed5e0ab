package attack

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestLongRequestsAreLoggedShort sends all that is logged of a request, or searched, as long as possible,
// and of characters that a log escapes.
func TestLongRequestsAreLoggedShort(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=debug"}})
	const size, most = 15 << 10, 4 << 10
	long, escaped := strings.Repeat("b", size), strings.Repeat(`\u0001`, size/9)
	bearer := func(header string) string {
		return "POST /plants HTTP/1.1\r\nAuthorization: Bearer " + base64.RawURLEncoding.EncodeToString([]byte(header)) + ".e30.AAAA\r\n"
	}
	for _, request := range []string{
		long + " /plants HTTP/1.1\r\n",
		"GET /" + strings.Repeat("%01", size/3) + " HTTP/1.1\r\n",
		"GET /" + long + " HTTP/1.1\r\n",
		"GET /docs HTTP/1.1\r\nUser-Agent: " + strings.Repeat("\xff", size) + "\r\n",
		"GET /docs HTTP/1.1\r\nTraceparent: 01-" + long[:32] + "-" + long[:16] + "-00-" + long + "\r\n",
		bearer(`{"alg":"` + escaped + `"}`),
		bearer(`{"alg":"HS256","kid":"` + escaped + `"}`),
	} {
		c := plantstore.Dial(t, server.BaseURL)
		must.Do(t, c.Send(request+"Host: x\r\nConnection: close\r\n\r\n"))
		must.Get(io.Copy(io.Discard, c.In))(t)
	}
	server.Stop()
	requests := 0
	for line := range strings.Lines(server.Log()) {
		if len(line) > most {
			t.Errorf("a line of %d bytes: %.300s", len(line), line)
		}
		requests += strings.Count(line, `"msg":"request"`)
	}
	if requests != 7 {
		t.Errorf("%d requests are in the log, want 7", requests)
	}
}

// TestTokensAreHidden sends valid tokens, whatever their header contains, in every place of a request, and
// checks that neither the log nor a view of the kept requests has a part of one, and the log not the secret (C4.25).
func TestTokensAreHidden(t *testing.T) {
	t.Parallel()
	s := plantstore.Start(t, plantstore.Options{
		Args: []string{"--ephemeral", "--faults", "on"}, Env: []string{"LOG_LEVEL=debug", "JWT_SECRET=" + secret},
	})
	encode := base64.RawURLEncoding.EncodeToString
	parts := []string{"opaque-credential"}
	sent := 0
	for _, header := range []string{
		`{"alg":"HS256"}`, `{ "alg":"HS256"}`, "{\n\"alg\":\"HS256\"}", ` {"alg":"HS256"}`, "\r\n\t {\t\"alg\" :\"HS256\"}",
		`{"\u0061lg":"HS256"}`, `{"x":1,"alg":"HS256"}`, strings.Repeat(" ", 300) + `{"alg":"HS256"}`,
	} {
		payload := encode([]byte(` {"sub":"x"}`))
		signed := encode([]byte(header)) + "." + payload
		signature := encode(must.Get(jwt.SigningMethodHS256.Sign(signed, []byte(secret)))(t))
		parts = append(parts, payload, signature, signature[:20])
		token := signed + "." + signature
		replacer := strings.NewReplacer("TOKEN", token, "PAYLOAD", payload, "HIDDEN", strings.ReplaceAll(token, ".", "%2E"),
			"ESCAPED", strings.ReplaceAll(token, ".", `\u002e`), "LONG", strings.Repeat("x", 8<<10-len(token)-20))
		for _, template := range []string{
			plantstore.Create("TOKEN", "", "X-Request-Id: TOKEN", "User-Agent: TOKEN", "Traceparent: TOKEN", "Prefer: code=409; token=TOKEN"),
			plantstore.Create("TOKENx", "", "TOKEN: x", "Cookie: token=PAYLOAD", "X-Api-Key: PAYLOAD", "Proxy-Authorization: Basic PAYLOAD"),
			plantstore.Create("TOKEN", "", "Prefer: code=431", "TOKEN: x"),
			"POST /plants?token=TOKEN&hidden=HIDDEN HTTP/1.1\r\nHost: x\r\nAuthorization: TOKEN\r\n\r\n",
			"POST /TOKEN HTTP/1.1\r\nHost: x\r\nAUTHORIZATION:bearer   TOKEN\r\n\r\n",
			"GET /a/HIDDEN/b-TOKEN/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer\r\n TOKEN\r\nAuthorization: TOKEN\r\n\r\n",
			"POST /plants HTTP/1.1\r\nHost: x\r\nExpect: TOKEN\r\nContent-Type: TOKEN\r\nOrigin: TOKEN\r\nAuthorization: Basic TOKEN\r\n\r\n",
			"POST /plants HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: TOKEN\r\nAuthorization: Bearer TOKEN TOKEN\r\n\r\n",
			"TOKEN /plants HTTP/1.1\r\nHost: x\r\n\r\n",
			"GET /plants TOKEN\r\nHost: x\r\n\r\n",
			"POST /plants?api_key=opaque-credential HTTP/1.1\r\nHost: x\r\nX-Auth-Token: opaque-credential\r\nAuthorisation: Bearer opaque-credential\r\nAuthorization: opaque-credential x\r\n\r\n",
			"POST /plants?%74oken=opaque-credential HTTP/1.1\r\nHost: x\r\nX: token: opaque-credential\r\nReferer: https://a:b;opaque-credential@x/\r\nX: {\"h\": \"Bearer opaque-credential\"}\r\n\r\n",
		} {
			sent++
			must.Get(plantstore.Dial(t, s.BaseURL).Do(replacer.Replace(template)))(t)
		}
		for _, body := range []string{
			`{"id":1,"name":null,"` + secret + `":1}`, `{"TOKEN":1,"TOKEN":2}`,
			`{"id":1,"name":"TOKEN ESCAPED"}`, `{"id":"ESCAPED TOKEN"`, `{"id":1,"name":"LONG TOKEN"}`,
			`{"id":"TOKEN` + strings.Repeat("x", 1<<20-2000) + `"`,
		} {
			sent++
			must.Get(plantstore.Dial(t, s.BaseURL).Do(plantstore.Create(token, replacer.Replace(body))))(t)
		}
	}
	views := map[string]string{
		"plantstore requests":           plantstore.Run(t, s.Dir, "requests"),
		"plantstore requests --verbose": plantstore.Run(t, s.Dir, "requests", "--verbose"),
		"plantstore requests --json":    plantstore.Run(t, s.Dir, "requests", "--json"),
		"GET /requests":                 s.Get(s.AdminURL + "/requests").Body,
		"plantstore plants browse":      plantstore.Browse(t, s.Dir).Get("page/requests"),
	}
	if n := strings.Count(views["GET /requests"], "\n"); n != sent {
		t.Errorf("%d requests are kept, want %d", n, sent)
	}
	s.Stop()
	views["the log"] = s.Log()
	if !strings.Contains(s.Log(), `"path":"/REDACTED"`) || !strings.Contains(s.Log(), `"method":"REDACTED"`) {
		t.Error("no path or no method is REDACTED in the log")
	}
	if strings.Contains(s.Log(), secret) {
		t.Errorf("the log has the secret:\n%s", s.Log())
	}
	for name, text := range views {
		if n := strings.Count(text, "REDACTED"); n < 16 {
			t.Errorf("%s has only %d REDACTED, want one of each header in two places:\n%s", name, n, text)
		}
		for _, part := range parts {
			if i := strings.Index(text, part); i >= 0 {
				t.Errorf("%s has a part of a token: %.300s", name, text[max(0, i-200):])
			}
		}
	}
}
