package routes_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"plantstore/routes"
)

// A slowBody is a body that arrives in small pieces. It checks the size of the buffer
// that each of them is read into.
type slowBody struct {
	t    *testing.T
	rest string
	read int
}

func (r *slowBody) Read(p []byte) (int, error) {
	if most := max(1<<10, r.read+1); len(p) > most {
		r.t.Errorf("after %d bytes there is memory for %d more, want at most %d", r.read, len(p), most)
	}
	n, err := strings.NewReader(r.rest).Read(p[:min(len(p), 100)])
	r.rest, r.read = r.rest[n:], r.read+n
	return n, err
}

// TestBodyBufferGrowth checks that the buffer grows with the bytes that arrive, not with the
// Content-Length.
func TestBodyBufferGrowth(t *testing.T) {
	t.Parallel()
	for _, announced := range []int64{1 << 20, 20_000, -1} {
		h := newHandler(t, newStore(t), func(o *routes.Options) { o.MaxBodyBytes = 1 << 20 })
		text := `{"id":1,"name":"` + strings.Repeat("x", 20_000-18) + `"}`
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants", &slowBody{t: t, rest: text})
		r.ContentLength = announced
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer good")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != http.StatusOK || !strings.Contains(w.Body.String(), "xxx") {
			t.Errorf("announced as %d: %d %.200s", announced, w.Code, w.Body)
		}
	}
}

// TestLargeDecodes checks that a large body frees its slot for the next one, whether it is accepted or
// not: otherwise the server would soon accept none.
func TestLargeDecodes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHandler(t, brokenStore{}, func(o *routes.Options) { o.MaxBodyBytes = 1 << 20 })
		decoded := 0
		go func() {
			for _, start := range []string{"{", `{"id":1,"name":"x"}`, "{", `{"id":2,"name":"x"}`} {
				do(t, h, http.MethodPost, "/plants", start+strings.Repeat(" ", 100_000))
				decoded++
			}
		}()
		synctest.Wait()
		if decoded != 4 {
			t.Errorf("%d of 4 large bodies were decoded, then one waits for a slot that no other frees", decoded)
		}
	})
}
