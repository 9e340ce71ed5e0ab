package attack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestLongRequestsAreLoggedShort sends all that is logged of a request, or searched, as long as possible,
// and of characters that a log escapes.
func TestLongRequestsAreLoggedShort(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=debug"}})
	const size, most = 15 << 10, 4 << 10
	jose := func(header string) string { return base64.RawURLEncoding.EncodeToString([]byte(header)) + ".e30.AAAA" }
	for _, request := range []string{
		strings.Repeat("x", size) + " /plants HTTP/1.1\r\n",
		"GET /" + strings.Repeat("%01", size/3) + " HTTP/1.1\r\n",
		"GET /" + strings.Repeat("a", size) + " HTTP/1.1\r\n",
		"GET /docs HTTP/1.1\r\nUser-Agent: " + strings.Repeat("\xff", size) + "\r\n",
		"GET /docs HTTP/1.1\r\nTraceparent: 01-" + strings.Repeat("a", 32) + "-" + strings.Repeat("a", 16) + "-00-" + strings.Repeat("b", size) + "\r\n",
		"POST /plants HTTP/1.1\r\nAuthorization: Bearer " + jose(`{"alg":"`+strings.Repeat(`\u0001`, size/9)+`"}`) + "\r\n",
		"POST /plants HTTP/1.1\r\nAuthorization: Bearer " + jose(`{"alg":"HS256","kid":"`+strings.Repeat(`\u0001`, size/9)+`"}`) + "\r\n",
	} {
		p := dialPeer(t, server, "")
		p.send(request + "Host: x\r\nConnection: close\r\n\r\n")
		if _, err := io.Copy(io.Discard, p.In); err != nil {
			t.Error(err)
		}
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

// TestTokenIsNotLogged checks that a valid token is in no log, whatever its header contains and
// wherever in a request it occurs (C4.25).
func TestTokenIsNotLogged(t *testing.T) {
	t.Parallel()
	const secret = "0123456789abcdef0123456789abcdef"
	server := plantstore.Start(t, plantstore.Options{Env: []string{"JWT_SECRET=" + secret, "LOG_LEVEL=debug"}})
	sign := func(header string) string {
		signed := base64.RawURLEncoding.EncodeToString([]byte(header)) + "." + base64.RawURLEncoding.EncodeToString([]byte(` {"sub":"x"}`))
		mac := hmac.New(sha256.New, []byte(secret))
		mac.Write([]byte(signed))
		return signed + "." + base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	}
	tokens := map[string]string{} // the header and the signature of a token
	for _, header := range []string{
		`{"alg":"HS256"}`, `{ "alg":"HS256"}`, "{\n\"alg\":\"HS256\"}", ` {"alg":"HS256"}`, "\r\n\t {\t\"alg\" :\"HS256\"}",
		`{"` + "\\u0061" + `lg":"HS256"}`, `{"x":1,"alg":"HS256"}`, strings.Repeat(" ", 300) + `{"alg":"HS256"}`,
	} {
		token := sign(header)
		for _, place := range []string{"X-Request-Id", "User-Agent", "Traceparent", "path", "in the path", "query", "method"} {
			method, path, fields := http.MethodPost, "/plants", []string{"Authorization", "Bearer " + token, "Content-Type", "application/json"}
			switch place {
			case "path":
				path = "/" + token
			case "in the path":
				path = "/plants-" + token + "/x"
			case "query":
				path += "?token=" + token
			case "method":
				method = token
			default:
				fields = append(fields, place, token)
			}
			r := must.Get(plantstore.Do(t.Context(), http.DefaultClient, method, server.BaseURL+path, `{}`, fields...))(t)
			if r.Header.Get("X-Request-Id") == token {
				t.Errorf("%q: the token is the request id", header)
			}
			if r.Status != http.StatusBadRequest {
				t.Errorf("%q: status %d", header, r.Status)
			}
		}
		tokens[header] = token[strings.LastIndex(token, ".")+1:]
	}
	server.Stop()
	for header, signature := range tokens {
		if strings.Contains(server.Log(), signature) {
			t.Errorf("a token with the header %q is in the log", header)
		}
	}
	if !strings.Contains(server.Log(), `"path":"REDACTED"`) {
		t.Error("no path is REDACTED")
	}
}
