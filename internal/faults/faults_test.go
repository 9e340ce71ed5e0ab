package faults_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/faults"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
	"plantstore/middleware"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newHandler returns a handler with faults over the routes, and the faults that were observed since
// the last call, as their codes and "delay". "good" is a valid token.
func newHandler(t *testing.T, store routes.Store, logs ...io.Writer) (h http.Handler, observed func() []string) {
	t.Helper()
	verify := func(_ context.Context, token string) (string, error) {
		if token != "good" {
			return "", models.NewError(models.CodeUnauthorized, "bad token")
		}
		return "tester", nil
	}
	var all []string
	log := middleware.AccessLog(slog.New(slog.NewTextHandler(io.MultiWriter(logs...), nil)))
	h = must.Get(faults.New(routes.Options{
		Store: store, Verify: verify, MaxBodyBytes: 1000,
		Observe: func(ctx context.Context, o *middleware.Outcome) {
			log(ctx, o)
			if o.Name == middleware.Fault {
				all = append(all, o.Error.Code.String())
			}
			if o.Delayed > 0 {
				all = append(all, "delay")
			}
		},
	}, func(_ context.Context, token string) bool { return token == "good" }, ""))(t)
	return h, func() []string {
		last := all
		all = nil
		return last
	}
}

// newStore returns a real store that is closed after the test.
func newStore(t *testing.T) *storage.Store {
	t.Helper()
	store := must.Get(bbolt.OpenFile(filepath.Join(t.TempDir(), "plants.db"), storage.Options{}))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	return store
}

// checkError checks that a response is an Error with a code and a message that contains text, and
// whether it has Preference-Applied (empty: no).
func checkError(t *testing.T, w *httptest.ResponseRecorder, code models.Code, text, applied string) {
	t.Helper()
	must.Refuse(t, w, code, text)
	if got := strings.Join(w.Header()["Preference-Applied"], "|"); got != applied {
		t.Errorf("%s: Preference-Applied %q, want %q", w.Body, got, applied)
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

// TestFaults checks that every code of the handler can be demanded, and that no plant is stored.
// e2e compares the responses with the real ones, and those of the server itself, too.
func TestFaults(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	h, counted := newHandler(t, store)
	for _, c := range models.Codes() {
		switch c.Code {
		case models.CodeExpectationFailed, models.CodeHeaderTooLarge, models.CodeNotImplemented, models.CodeVersionUnsupported:
			continue
		}
		applied := "code=" + c.Code.String()
		checkError(t, prefer(t, h, applied, plant7), c.Code, "", applied)
		if got := counted(); !slices.Equal(got, []string{c.Code.String()}) {
			t.Errorf("%v: counted %v", c.Code, got)
		}
		if _, err := store.Get(t.Context(), 7); !errors.Is(err, storage.ErrNotFound) {
			t.Fatalf("%v: the plant is stored: %v", c.Code, err)
		}
	}
}

// TestFaultsKeepTheOrderOfChecks checks that each check before the position of a fault fails
// first, and that the response does not have Preference-Applied.
func TestFaultsKeepTheOrderOfChecks(t *testing.T) {
	t.Parallel()
	h, counted := newHandler(t, newStore(t))
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	chunked := func(r *http.Request) { r.ContentLength = -1 }
	for _, tt := range []struct {
		preference, body string
		change           func(*http.Request)
		want             models.Code
	}{
		{"code=503", plant7, header("Authorization", ""), 401},
		{"code=404", plant7, header("Authorization", ""), 401},
		{"delay=10s", plant7, header("Authorization", ""), 401},
		{"code=413", plant7, header("Content-Type", "text/plain"), 415},
		{"code=409", plant7, header("Content-Type", "text/plain"), 415},
		{"code=503", strings.Repeat(" ", 1001), header("X", ""), 413},
		{"code=422", "{", header("X", ""), 400},
		{"code=400", strings.Repeat(" ", 1001), chunked, 413},
		{"code=422", strings.Repeat(" ", 1001), chunked, 413},
		{"code=507", "{}", header("X", ""), 422},
	} {
		checkError(t, prefer(t, h, tt.preference, tt.body, tt.change), tt.want, "", "")
	}
	if got := counted(); len(got) > 0 {
		t.Errorf("counted %v", got)
	}
}

// TestFaultOutcomes checks that a request can demand both outcomes of an unknown outcome, and
// of a taken id.
func TestFaultOutcomes(t *testing.T) {
	t.Parallel()
	store := newStore(t)
	h, _ := newHandler(t, store)
	demand := func(preference string, code models.Code, text string) {
		t.Helper()
		applied, _, _ := strings.Cut(preference, ";")
		checkError(t, prefer(t, h, preference, plant7), code, text, applied)
	}
	demand("code=409", 409, "is different")
	demand("code=409; outcome=identical", 409, "is identical")
	demand("code=500", 500, "the outcome is unknown")
	if _, err := store.Get(t.Context(), 7); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("the plant is stored: %v", err)
	}
	demand("code=500; outcome=stored", 500, "the outcome is unknown")
	if _, err := store.Get(t.Context(), 7); err != nil {
		t.Errorf("the plant is not stored: %v", err)
	}
	// A client that sends it again learns that it was stored.
	checkError(t, prefer(t, h, "code=500; outcome=stored", plant7), 409, "is identical", "")
}

// TestFaultDelay checks that a delay applies to the response, whatever its outcome is.
func TestFaultDelay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, counted := newHandler(t, recording{})
		for preference, want := range map[string]int{"delay=2s": http.StatusOK, "delay=2s, code=507": http.StatusBadRequest} {
			start := time.Now()
			w := prefer(t, h, preference, plant7)
			if took := time.Since(start); w.Code != want || took != 2*time.Second || w.Header().Get("Preference-Applied") != preference {
				t.Errorf("%s: %d %v after %v", preference, w.Code, w.Header(), took)
			}
		}
		got := counted()
		slices.Sort(got)
		if !slices.Equal(got, []string{"507", "delay", "delay"}) {
			t.Errorf("counted %v", got)
		}
	})
}

// A recording is a store that accepts everything.
type recording struct{}

func (recording) Create(context.Context, int64, models.Plant) error { return nil }

// TestLog checks that the line of a fault has the request as it was sent, its own outcome, the
// delay, and level info, but the line of another failure is as usual.
func TestLog(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h, _ := newHandler(t, failing{}, &log)
	for preference, want := range map[string]string{
		"code=404":                 "level=INFO msg=request method=POST path=/plants status=400 outcome=fault error=404 ",
		"code=405":                 "level=INFO msg=request method=POST path=/plants status=400 outcome=fault error=405 ",
		"code=500":                 "level=INFO msg=request method=POST path=/plants status=400 outcome=fault error=500 ",
		"code=500; outcome=stored": "level=ERROR msg=request method=POST path=/plants status=400 outcome=unknown error=500 ",
		"code=503, delay=1ms":      " fault_delay_ms=1\n",
	} {
		log.Reset()
		prefer(t, h, preference, plant7)
		if !strings.Contains(log.String(), want) {
			t.Errorf("%s: %s, want %s", preference, &log, want)
		}
	}
}

// lines is a log that a test reads line by line.
type lines chan string

func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestRefusal checks the response and the line of an error that in reality comes from package net/http.
func TestRefusal(t *testing.T) {
	t.Parallel()
	log := make(lines, 1)
	h, _ := newHandler(t, recording{}, log)
	s := httptest.NewServer(h)
	defer s.Close()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/plants", http.NoBody))(t)
	request.Header = http.Header{"Prefer": {"code=431, delay=1ms"}, "Authorization": {"Bearer good"}}
	response := must.Get((&http.Transport{DisableKeepAlives: true}).RoundTrip(request))(t)
	must.Do(t, response.Body.Close())
	if applied := response.Header["Preference-Applied"]; response.StatusCode != http.StatusBadRequest || !slices.Equal(applied, []string{"delay=1ms, code=431"}) {
		t.Errorf("status %d, Preference-Applied %q", response.StatusCode, applied)
	}
	line := <-log
	if !strings.Contains(line, "level=INFO msg=refused outcome=fault error=431 ") || !strings.HasSuffix(line, " fault_delay_ms=1\n") {
		t.Errorf("the line is %s", line)
	}
}

// A failing is a store that fails.
type failing struct{}

func (failing) Create(context.Context, int64, models.Plant) error { return storage.ErrUnknown }

// TestSlowBodies checks that slow requests with a fault do not delay others.
func TestSlowBodies(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, _ := newHandler(t, recording{})
		slow, end := io.Pipe()
		var all sync.WaitGroup
		for range 20 {
			all.Go(func() { prefer(t, h, "code=422", "", func(r *http.Request) { r.Body, r.ContentLength = slow, -1 }) })
		}
		synctest.Wait()
		checkError(t, prefer(t, h, "code=422", plant7), 422, "id: is required; name: is required", "code=422")
		_ = end.Close()
		all.Wait()
	})
}

// TestNoFault checks that a request without a fault is unaffected.
func TestNoFault(t *testing.T) {
	t.Parallel()
	h, counted := newHandler(t, newStore(t))
	want := prefer(t, h, "", plant7).Header()
	w := prefer(t, h, "code=999, wait=10", `{"id":8,"name":"fern"}`)
	if diff := cmp.Diff(want, w.Header()); w.Code != http.StatusOK || diff != "" || counted() != nil {
		t.Errorf("%d %s, header (-without Prefer +got):\n%s", w.Code, w.Body, diff)
	}
}

func TestMain(m *testing.M) { watchdog.Main(m) }

// TestParsePrefer checks the syntax of Prefer. e2e demands every code.
func TestParsePrefer(t *testing.T) {
	t.Parallel()
	const stored, identical = faults.OutcomeStored, faults.OutcomeIdentical
	for text, want := range map[string]faults.Fault{
		"":                                   {},
		"code=503":                           {Code: 503},
		`code="503"`:                         {Code: 503},
		" Code = 503 ":                       {Code: 503},
		"respond-async, code=404, wait=10":   {Code: 404},
		"code=503|code=404":                  {Code: 503}, // two header fields
		"delay=200ms|code=404":               {Code: 404, Delay: 200 * time.Millisecond},
		"delay=10s":                          {Delay: faults.MaxDelay},
		"code=500; outcome=stored":           {Code: 500, Outcome: stored},
		`code=500;x;outcome="stored" ,a`:     {Code: 500, Outcome: stored},
		"code=409;outcome=identical;delay=1": {Code: 409, Outcome: identical},
		"code=409;outcome=stored":            {Code: 409},
		"code=503;outcome=stored":            {Code: 503},
		"code=999, code=503":                 {}, // the first counts
		"code=200":                           {},
		"code=0503":                          {},
		"code":                               {},
		"xcode=503":                          {},
		"delay=11s":                          {},
		"delay=-1s":                          {},
		"delay=2":                            {},
		`code="`:                             {},
	} {
		if got := faults.ParsePrefer(strings.Split(text, "|")); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// FuzzParsePrefer checks that no value makes the parser panic or exceed its bounds.
func FuzzParsePrefer(f *testing.F) {
	f.Add("code=503; outcome=stored, delay=2s", `a="\`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if got := faults.ParsePrefer([]string{a, b}); got.Delay < 0 || got.Delay > faults.MaxDelay {
			t.Errorf("%+v", got)
		}
	})
}
