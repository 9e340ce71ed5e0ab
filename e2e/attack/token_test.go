package attack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

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
