package app

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/internal/operate"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
)

// TestProblem checks that a server which is ready is not any more when its shutdown begins, while it still serves
// requests, and that a server without keys of its issuer is not ready.
func TestProblem(t *testing.T) {
	t.Parallel()
	a := newEphemeral(t, 0, new(bytes.Buffer))
	a.verifier = must.Get(auth.New(auth.Options{}))(t)
	leaving, leave := context.WithCancel(t.Context())
	defer leave()
	a.leaving = leaving
	if problem, cause := a.problem(); problem != "" || cause != nil {
		t.Errorf("before the shutdown: %q, %v", problem, cause)
	}
	leave()
	if problem, _ := a.problem(); problem != "the server is shutting down" {
		t.Errorf("during the shutdown: %q", problem)
	}
	a.leaving, a.verifier = t.Context(), must.Get(auth.New(auth.Options{JWKSURL: "https://issuer.test/"}))(t)
	if problem, cause := a.problem(); problem != "no usable keys of the issuer" || cause == nil {
		t.Errorf("without keys: %q, %v", problem, cause)
	}
}

// TestLastCreates checks that the last creates are those that were stored, without refused ones, since the last
// reset.
func TestLastCreates(t *testing.T) {
	t.Parallel()
	a := newEphemeral(t, 2, new(bytes.Buffer))
	observe := a.observe()
	observe(t.Context(), &middleware.Outcome{Name: middleware.Created, Plant: true, PlantID: 0})
	observe(t.Context(), &middleware.Outcome{Name: middleware.Refused, Error: models.NewError(models.CodeConflict, "taken"), Plant: true, PlantID: 1})
	h := (&operate.Operator{Store: a.store, Creates: a.creates}).Handler(operate.Socket)
	shown := func() string {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/page/creates", http.NoBody))
		return w.Body.String()
	}
	if all := shown(); strings.Count(all, "\n") != 1 || !strings.Contains(all, `"id":"0"`) {
		t.Errorf("the last creates are %s, want only the id 0", all)
	}
	must.Get(a.reset(t.Context()))(t)
	if all := shown(); all != "" {
		t.Errorf("after a reset the last creates are %s", all)
	}
}
