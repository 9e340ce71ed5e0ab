package routes_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
)

// panicking is a store that panics at each create.
type panicking struct{ routes.Store }

// TestObserve checks that the outcome of each request is observed once, including those of preflights
// and panics.
func TestObserve(t *testing.T) {
	t.Parallel()
	type observed struct {
		Method, Name string
		Code         models.Code
	}
	var got []observed
	observe := func(o *routes.Options) {
		o.Origins = middleware.Origins{"*"}
		o.Observe = func(_ context.Context, o *middleware.Outcome) {
			if o.Took <= 0 {
				t.Errorf("%s, %s: it took %v", o.Method, o.Name, o.Took)
			}
			got = append(got, observed{o.Method, o.Name, 0})
			if o.Error != nil {
				got[len(got)-1].Code = o.Error.Code
			}
		}
	}
	h := newHandler(t, newStore(t), observe)
	do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	do(t, h, http.MethodPost, "/plants", `{`)
	do(t, h, http.MethodGet, "/plants", "")
	do(t, h, http.MethodGet, "/nowhere", "")
	do(t, h, http.MethodGet, "/openapi.json", "")
	preflight := httptest.NewRequestWithContext(t.Context(), http.MethodOptions, "/plants", http.NoBody)
	preflight.Header = http.Header{"Origin": {"https://a.test"}, "Access-Control-Request-Method": {"POST"}}
	h.ServeHTTP(httptest.NewRecorder(), preflight)
	do(t, newHandler(t, panicking{}, observe), http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	want := []observed{
		{"POST", "created", 0},
		{"POST", "refused", 409},
		{"POST", "refused", 400},
		{"GET", "refused", 405},
		{"GET", "refused", 404},
		{"GET", "read", 0},
		{"OPTIONS", "read", 0},
		{"POST", "failed", 500},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
