package routes_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/routes"
)

// TestDefaults checks that only the store and the verifier are required: a handler without others
// limits the body to 1 MiB, and describes itself by the Host of the request.
func TestDefaults(t *testing.T) {
	t.Parallel()
	verify := func(context.Context, string) (string, error) { return "tester", nil }
	h := must.Get(routes.New(routes.Options{Store: newStore(t), Verify: verify}))(t)
	body := func(size int) string { return `{"id":1,"name":"` + strings.Repeat("x", size-18) + `"}` }
	if w := do(t, h, http.MethodPost, "/plants", body(1<<20)); w.Code != http.StatusOK {
		t.Errorf("a body of 1 MiB: %d %.100s", w.Code, w.Body)
	}
	checkError(t, do(t, h, http.MethodPost, "/plants", body(1<<20+1)), models.CodeContentTooLarge, "1048576 bytes")
	if w := get(t, h, http.MethodGet, "/openapi.yaml", nil); !strings.Contains(w.Body.String(), `"http://example.com"`) { // of httptest
		t.Errorf("the description is %.300s", w.Body)
	}
}

// TestNewFails checks that a handler without a verifier does not accept everything: there is none.
func TestNewFails(t *testing.T) {
	t.Parallel()
	store, verify := brokenStore{}, func(context.Context, string) (string, error) { return "tester", nil }
	for name, options := range map[string]routes.Options{
		"nothing":   {},
		"no verify": {Store: store},
		"no store":  {Verify: verify},
		"bad URL":   {Store: store, Verify: verify, BaseURL: "http://\xff"},
	} {
		if h, err := routes.New(options); err == nil || h != nil {
			t.Errorf("%s: %v, %v", name, h, err)
		}
	}
}
