package routes_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/routes"
)

// panicking is a store that panics at each create.
type panicking struct{ routes.Store }

// TestObserve checks that each response is observed once with its error code, including
// responses to panics.
func TestObserve(t *testing.T) {
	t.Parallel()
	type observed struct {
		Method string
		Code   models.Code
	}
	var got []observed
	observe := func(o *routes.Options) {
		o.Observe = func(r *http.Request, code models.Code, took time.Duration) {
			if took <= 0 {
				t.Errorf("%s, error %d: it took %v", r.Method, code, took)
			}
			got = append(got, observed{r.Method, code})
		}
	}
	h := newHandler(t, newStore(t), observe)
	do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	do(t, h, http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	do(t, h, http.MethodPost, "/plants", `{`)
	do(t, h, http.MethodGet, "/plants", "")
	do(t, h, http.MethodGet, "/nowhere", "")
	do(t, h, http.MethodGet, "/openapi.json", "")
	do(t, newHandler(t, panicking{}, observe), http.MethodPost, "/plants", `{"id":1,"name":"x"}`)
	want := []observed{{"POST", 0}, {"POST", 409}, {"POST", 400}, {"GET", 405}, {"GET", 404}, {"GET", 0}, {"POST", 500}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
