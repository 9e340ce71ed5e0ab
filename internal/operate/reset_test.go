package operate_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"testing"

	"plantstore/internal/operate"
	"plantstore/models"
	"plantstore/storage"
)

// resets returns a handler for resets that return plants and err, and increment count.
func resets(t *testing.T, count *int, plants int64, err error) http.Handler {
	t.Helper()
	return newHandler(t, newStore(), func(o *operate.Options) {
		o.Reset = func(context.Context) (int64, error) {
			*count++
			return plants, err
		}
	})
}

func TestReset(t *testing.T) {
	t.Parallel()
	count := 0
	w := send(t, resets(t, &count, 100, nil), http.MethodPost, "/reset")
	if w.Code != http.StatusOK || w.Body.String() != `{"status":"reset","plants":100}`+"\n" || count != 1 {
		t.Errorf("%d %s after %d resets", w.Code, w.Body, count)
	}
	for text, want := range map[string]struct {
		err  error
		code models.Code
	}{
		"--ephemeral":      {models.NewError(models.CodeForbidden, "not --ephemeral"), models.CodeForbidden},
		"not available":    {fmt.Errorf("x: %w", storage.ErrUnavailable), models.CodeUnavailable},
		"the reset failed": {errors.New("a secret"), models.CodeInternal},
	} {
		wantError(t, send(t, resets(t, &count, 0, want.err), http.MethodPost, "/reset"), want.code, text)
	}
}

// TestResetIsGuarded checks that only a deliberate request causes a reset: neither a page of
// another origin nor a GET does.
func TestResetIsGuarded(t *testing.T) {
	t.Parallel()
	count := 0
	h := resets(t, &count, 0, nil)
	for _, method := range []string{http.MethodGet, http.MethodPut} {
		w := send(t, h, method, "/reset")
		wantError(t, w, models.CodeMethodNotAllowed, "Allow")
		if got := w.Header().Get("Allow"); got != "POST" {
			t.Errorf("%s: Allow %q", method, got)
		}
	}
	for name, value := range map[string]string{"Origin": "https://evil.test", "Sec-Fetch-Site": "cross-site"} {
		wantError(t, send(t, h, http.MethodPost, "/reset", name, value), models.CodeForbidden, "other origins")
	}
	if count != 0 {
		t.Errorf("%d resets", count)
	}
}
