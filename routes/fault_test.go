package routes_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
)

// withFaults enables faults on demand, and records the faults made.
func withFaults(made *[]models.Fault) func(*routes.Options) {
	return func(o *routes.Options) {
		o.Faults = &middleware.FaultOptions{
			Forbidden: models.NewError(models.CodeForbidden, "no scope"),
			Refusal:   func(code models.Code) *models.Error { return models.NewError(code, "refused") },
		}
		o.Observe = func(_ string, _ models.Code, _ time.Duration, f models.Fault) {
			if f != (models.Fault{}) {
				*made = append(*made, f)
			}
		}
	}
}

const plant7 = `{"id":7,"name":"fern"}`

// prefer sends a request with Prefer and another change.
func prefer(t *testing.T, h http.Handler, preference, body string, change ...func(*http.Request)) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants", strings.NewReader(body))
	r.Header = http.Header{"Authorization": {"Bearer good"}, "Content-Type": {"application/json"}, "Prefer": {preference}, "X-Request-Id": {"x"}}
	for _, c := range change {
		c(r)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestFaults checks that every code can be demanded, and, but for the codes of the server
// itself, the response equals the handler's response to the real failure. No plant is stored.
func TestFaults(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	var made []models.Fault
	h := newHandler(t, store, withFaults(&made))
	for _, c := range models.Codes() {
		applied := "code=" + c.Code.String()
		w := prefer(t, h, applied, plant7)
		switch c.Code {
		case models.CodeExpectationFailed, models.CodeHeaderTooLarge, models.CodeNotImplemented, models.CodeVersionUnsupported:
			checkError(t, w, c.Code, "refused")
			if w.Header().Get("Connection") != "close" {
				t.Errorf("%v: the connection is not closed: %v", c.Code, w.Header())
			}
		default:
			checkError(t, w, c.Code, "")
		}
		if got := w.Header().Get("Preference-Applied"); got != applied {
			t.Errorf("%v: Preference-Applied %q", c.Code, got)
		}
		if len(made) != 1 || made[0] != (models.Fault{Code: c.Code}) {
			t.Errorf("%v: observed %v", c.Code, made)
		}
		made = nil
		if _, err := store.Get(t.Context(), 7); !errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("%v: the plant is stored: %v", c.Code, err)
		}
	}
}

// TestFaultsKeepTheOrderOfChecks checks that each check before the position of a fault fails
// first, and that the response does not have Preference-Applied.
func TestFaultsKeepTheOrderOfChecks(t *testing.T) {
	t.Parallel()
	var made []models.Fault
	h := newHandler(t, newStore(t), withFaults(&made))
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	for name, tt := range map[string]struct {
		preference, body string
		change           func(*http.Request)
		want             models.Code
	}{
		"no credential, 503":   {"code=503", plant7, header("Authorization", ""), 401},
		"no credential, 404":   {"code=404", plant7, header("Authorization", ""), 401},
		"no credential, delay": {"delay=10s", plant7, header("Authorization", ""), 401},
		"media type, 413":      {"code=413", plant7, header("Content-Type", "text/plain"), 415},
		"media type, 409":      {"code=409", plant7, header("Content-Type", "text/plain"), 415},
		"too large, 503":       {"code=503", strings.Repeat(" ", 1001), header("X", ""), 413},
		"no JSON, 422":         {"code=422", "{", header("X", ""), 400},
		"no NewPlant, 507":     {"code=507", "{}", header("X", ""), 422},
	} {
		w := prefer(t, h, tt.preference, tt.body, tt.change)
		checkError(t, w, tt.want, "")
		if got := w.Header()["Preference-Applied"]; got != nil {
			t.Errorf("%s: Preference-Applied %q", name, got)
		}
	}
	if len(made) > 0 {
		t.Errorf("observed %v", made)
	}
}

// TestFaultOutcomes checks that a request can demand both outcomes of an unknown outcome, and
// of a taken id.
func TestFaultOutcomes(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	var made []models.Fault
	h := newHandler(t, store, withFaults(&made))
	checkError(t, prefer(t, h, "code=409", plant7), 409, "is different")
	checkError(t, prefer(t, h, "code=409; outcome=identical", plant7), 409, "is identical")
	checkError(t, prefer(t, h, "code=500", plant7), 500, "the outcome is unknown")
	if _, err := store.Get(t.Context(), 7); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the plant is stored: %v", err)
	}
	checkError(t, prefer(t, h, "code=500; outcome=stored", plant7), 500, "the outcome is unknown")
	if _, err := store.Get(t.Context(), 7); err != nil {
		t.Errorf("the plant is not stored: %v", err)
	}
	// A client that sends it again learns that it was stored.
	w := prefer(t, h, "code=500; outcome=stored", plant7)
	checkError(t, w, 409, "is identical")
	if got := w.Header()["Preference-Applied"]; got != nil {
		t.Errorf("Preference-Applied %q", got)
	}
}

// TestFaultDelay checks that a delay applies to the response, whatever its outcome is.
func TestFaultDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var made []models.Fault
		h := newHandler(t, recording{}, withFaults(&made))
		for preference, want := range map[string]int{"delay=2s": http.StatusOK, "delay=2s, code=507": http.StatusBadRequest} {
			start := time.Now()
			w := prefer(t, h, preference, plant7)
			if took := time.Since(start); w.Code != want || took != 2*time.Second || w.Header().Get("Preference-Applied") != preference {
				t.Errorf("%s: %d %v after %v", preference, w.Code, w.Header(), took)
			}
		}
		if len(made) != 2 {
			t.Errorf("observed %v", made)
		}
	})
}

// A recording is a store that accepts everything.
type recording struct{}

func (recording) Create(context.Context, int64, models.Plant) error { return nil }

// TestNoFault checks that Prefer is ignored if faults are off, and that a request without Prefer
// is unaffected if they are on.
func TestNoFault(t *testing.T) {
	t.Parallel()
	var made []models.Fault
	off, on := newHandler(t, newStore(t)), newHandler(t, newStore(t), withFaults(&made))
	responses := map[string]*httptest.ResponseRecorder{
		"off": prefer(t, off, "code=503, delay=10s", plant7), "on": prefer(t, on, "", plant7), "unknown": prefer(t, on, "code=999, wait=10", `{"id":8,"name":"fern"}`),
	}
	for name, w := range responses {
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
		if diff := cmp.Diff(responses["off"].Header(), w.Header()); diff != "" {
			t.Errorf("%s: header (-off +got):\n%s", name, diff)
		}
	}
	if len(made) > 0 {
		t.Errorf("observed %v", made)
	}
}
