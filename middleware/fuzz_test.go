package middleware_test

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"

	"plantstore/middleware"
	"plantstore/models"
)

// FuzzHeader sends arbitrary values of the header fields that the service reads. The
// response must be a plant or an Error (C1.3), and the access log must have one line
// without a token (C4.25).
func FuzzHeader(f *testing.F) {
	f.Add("Bearer good", "application/json", "", "my-id", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "curl")
	f.Add("bearer  "+aToken, `application/json;;charset="utf-8"`, "identity, gzip", aToken, aToken, aToken)
	f.Add("Basic x", "text/html; q=", ",,", "a b\n", "cc-0-0-0-", "\x00\xff")
	verify := func(_ context.Context, token string) (string, error) {
		if token != "good" {
			return "", models.NewError(models.CodeUnauthorized, "the token is not valid")
		}
		return "somebody", nil
	}
	f.Fuzz(func(t *testing.T, authorization, mediaType, coding, id, trace, agent string) {
		var log bytes.Buffer
		logger := slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		r := post(t, http.Header{
			"Authorization": {authorization}, "Content-Type": {mediaType}, "Content-Encoding": {coding},
			"X-Request-Id": {id}, "Traceparent": {trace}, "User-Agent": {agent},
		}, nil)
		w := serve(t, r, middleware.Headers(), middleware.Outcomes(middleware.AccessLog(logger)), middleware.Bearer(verify, nil), middleware.JSONOnly(), pass)
		var failure models.Error
		if !reached(w) && (w.Code != http.StatusBadRequest || json.Unmarshal(w.Body.Bytes(), &failure) != nil || failure.Message == "") {
			t.Errorf("response %d %s", w.Code, w.Body)
		}
		var line map[string]any
		if err := json.Unmarshal(log.Bytes(), &line); err != nil || line["status"] != float64(w.Code) {
			t.Errorf("%v in the log %s", err, &log)
		}
		for name, value := range line {
			if text, ok := value.(string); ok && models.Redact(text) != text {
				t.Errorf("a token in %s: %q", name, text)
			}
		}
	})
}
