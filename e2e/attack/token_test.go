package attack

import (
	"context"
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
			request := must.Get(http.NewRequestWithContext(context.Background(), http.MethodPost, server.BaseURL+"/plants", strings.NewReader(`{}`)))(t)
			request.Header.Set("Authorization", "Bearer "+token)
			request.Header.Set("Content-Type", "application/json")
			switch place {
			case "path":
				request.URL.Path = "/" + token
			case "in the path":
				request.URL.Path = "/plants-" + token + "/x"
			case "query":
				request.URL.RawQuery = "token=" + token
			case "method":
				request.Method = token
			default:
				request.Header.Set(place, token)
			}
			response := must.Get(http.DefaultClient.Do(request))(t)
			_ = response.Body.Close()
			if id := response.Header.Get("X-Request-Id"); id == token {
				t.Errorf("%q: the token is the request id", header)
			}
			if place == "query" && response.StatusCode != http.StatusBadRequest {
				t.Errorf("%q: status %d", header, response.StatusCode)
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
