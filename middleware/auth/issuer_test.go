package auth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/internal/must"
)

// A site is an issuer's server. It publishes a JWK Set and counts requests.
type site struct {
	requests atomic.Int64
	mu       sync.Mutex
	response http.HandlerFunc
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	s.mu.Lock()
	response := s.response
	s.mu.Unlock()
	response(w, r)
}

// RoundTrip implements [http.RoundTripper] without a network.
func (s *site) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	return w.Result(), nil
}

// wantRequests checks the number of requests since the start.
func (s *site) wantRequests(t *testing.T, want int64) {
	t.Helper()
	if n := s.requests.Load(); n != want {
		t.Errorf("%d requests, want %d", n, want)
	}
}

func (s *site) handle(response http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.response = response
}

// publishes makes the site respond with the keys of kinds.
func (s *site) publishes(t *testing.T, kinds ...kind) {
	t.Helper()
	keys := []any{}
	for _, kind := range kinds {
		keys = append(keys, jwkOf(t, kind.key.Public, jwk{"kid": kind.key.ID}))
	}
	s.responds(http.StatusOK, setOf(t, keys...))
}

func (s *site) responds(status int, body string) {
	s.handle(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// issuerOf returns an issuer's site, without a network, a Verifier of its tokens, which has fetched the
// keys unless there are none, and the log.
func issuerOf(t *testing.T, kinds ...kind) (*site, *Verifier, *bytes.Buffer) {
	t.Helper()
	s, log := new(site), new(bytes.Buffer)
	v := newVerifier(Options{JWKSURL: "https://issuer.test/jwks.json", Logger: slog.New(slog.NewTextHandler(log, nil))})
	v.issuer.client.Transport = s
	if kinds != nil {
		s.publishes(t, kinds...)
		must.Do(t, v.Fetch(t.Context()))
	}
	return s, v, log
}

// TestKeysFetchedMeanwhile checks that a token is verified whose key a fetch has published since
// the keys were read for it.
func TestKeysFetchedMeanwhile(t *testing.T) {
	t.Parallel()
	known, fresh := ecKind(t, "known"), ecKind(t, "fresh")
	site, verifier, _ := issuerOf(t, known)
	site.publishes(t, fresh)
	before := verifier.trusted.Load()
	verifier.issuer.refresh(t.Context(), "fresh")
	if _, _, err := verifier.authenticate(t.Context(), before, fresh.named()); err != nil {
		t.Error(err)
	}
}

// TestIssuerFails checks that if a fetch fails, the previous keys stay in use and the error
// describes the cause, shortly. At the start, responses that show that the URL is wrong are an error.
func TestIssuerFails(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	redirect := func(url string) http.HandlerFunc { return http.RedirectHandler(url, http.StatusFound).ServeHTTP }
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, strings.Repeat(" ", 1<<10))
			_ = http.NewResponseController(w).Flush()
			<-time.After(time.Millisecond)
		}
	}
	const wrong = true
	set := setOf(t, jwkOf(t, good.key.Public, nil))
	for name, test := range map[string]struct {
		response http.HandlerFunc
		want     string
		wrong    bool
	}{
		"down":              {status(500, set), "500", !wrong},
		"timeout":           {status(408, ""), "408", !wrong},
		"too many requests": {status(429, ""), "429", !wrong},
		"too early":         {status(425, ""), "425", !wrong},
		"not there":         {status(404, set), "404", wrong},
		"moved":             {status(301, ""), "301", wrong},
		"no content":        {status(204, ""), "204", wrong},
		"a page":            {status(200, "<html>login</html>"), "not a JWK Set", wrong},
		"cut":               {status(200, set[:len(set)-3]), "not a JWK Set", wrong},
		"private":           {status(200, setOf(t, jwkOf(t, good.key.Public, jwk{"d": "AAAA"}))), "private key", wrong},
		"long":              {status(200, string(must.Get(json.Marshal(jwkOf(t, good.key.Public, jwk{"use": strings.Repeat("enc", 100_000)})))(t))), "its use is", wrong},
		"huge":              {status(200, set+strings.Repeat(" ", 1<<20)), "1048576", wrong},
		"cut off":           {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF", !wrong},
		"slow":              {endless, "deadline", !wrong},
		"silent":            {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "deadline", !wrong},
		"elsewhere":         {redirect("http://keys.invalid/"), "redirects", wrong},
		"another port":      {redirect("http://127.0.0.1:1/?SECRET"), "redirects", wrong},
		"another scheme":    {redirect("https://127.0.0.1/"), "redirects", wrong},
		"round":             {redirect("/"), "redirects", wrong},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, verifier, _ := issuerOf(t, good)
			server := httptest.NewServer(site)
			t.Cleanup(server.Close)
			verifier.issuer.url = server.URL
			verifier.issuer.client.Transport = server.Client().Transport // the default one loses connections when any server closes
			site.handle(test.response)
			if test.want == "deadline" {
				verifier.issuer.client.Timeout = 50 * time.Millisecond
			}
			err := verifier.Fetch(t.Context())
			text := strings.ReplaceAll(fmt.Sprint(err), "Timeout", "deadline")
			if err == nil || !strings.Contains(text, test.want) || strings.Contains(text, "SECRET") || len(text) > 400 {
				t.Errorf("got %.1000s, want an error with %q", text, test.want)
			}
			check(t, verifier, accepted, good.named())
			if err := verifier.Start(t.Context()); (err != nil) != test.wrong {
				t.Errorf("Start: %v, want an error: %t", err, test.wrong)
			}
		})
	}
}

// TestIssuerOfUnknownAuthority checks that the error names the bundle of authorities that lacks the
// issuer's, and where to name another one.
func TestIssuerOfUnknownAuthority(t *testing.T) {
	t.Parallel()
	site, verifier, _ := issuerOf(t)
	server := httptest.NewUnstartedServer(site)
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	server.StartTLS()
	t.Cleanup(server.Close)
	verifier.issuer.url, verifier.issuer.client.Transport = server.URL, nil
	err := verifier.Fetch(t.Context())
	for _, want := range []string{"unknown authority", "ca-certificates.crt", "the environment variable SSL_CERT_FILE, not in .env"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestIssuerStarts checks that a set without a usable key is no error, but not ready; and that an
// interrupted start is one.
func TestIssuerStarts(t *testing.T) {
	t.Parallel()
	for set, ready := range map[string]bool{
		setOf(t, jwkOf(t, ecKind(t, "").key.Public, nil)): true, setOf(t, jwk{"kty": "AKP"}): false, `{"keys":[]}`: false,
	} {
		site, verifier, _ := issuerOf(t)
		site.responds(http.StatusOK, set)
		if err := verifier.Start(t.Context()); err != nil || (verifier.Ready() == nil) != ready {
			t.Errorf("%s: Start: %v, Ready: %v", set, err, verifier.Ready())
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := verifier.Start(ended); err == nil || verifier.Stats().Issuer.Failures != 0 {
			t.Errorf("interrupted: %v, %+v", err, verifier.Stats().Issuer)
		}
	}
}

// TestIssuerLogsChanges checks that ignored keys, and a set without any, are logged once, not at
// each fetch, and short whatever the issuer sends.
func TestIssuerLogsChanges(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, verifier, log := issuerOf(t, good)
	valid, other := jwkOf(t, good.key.Public, nil), jwkOf(t, good.key.Public, jwk{"use": strings.Repeat("enc", 100_000)})
	for _, phase := range []struct {
		set  string
		want string // the new line in the log after three fetches
	}{
		{setOf(t, valid), ""},
		{setOf(t, valid, other), "issuer keys ignored"},
		{setOf(t, valid), ""},
		{setOf(t, valid, other), "issuer keys ignored"},
		{setOf(t, other), "issuer has no usable keys"},
		{`{"keys":[]}`, "issuer has no usable keys"},
	} {
		site.responds(http.StatusOK, phase.set)
		log.Reset()
		for range 3 {
			must.Do(t, verifier.Fetch(t.Context()))
		}
		logged := log.String()
		if strings.Count(logged, "\n") != min(1, len(phase.want)) || !strings.Contains(logged, phase.want) || len(logged) > 1000 {
			t.Errorf("after %.100s the log is: %.1000s", phase.set, logged)
		}
	}
}

// TestIssuerHidesQuery checks that the query of the URL is sent, but never logged or in an
// error (C4.25), and not forwarded in Referer by a redirect.
func TestIssuerHidesQuery(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, verifier, log := issuerOf(t, good)
	verifier.issuer.url += "?key=tell"
	set := setOf(t, jwkOf(t, good.key.Public, nil))
	site.handle(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/moved" && r.Referer() == "":
			_, _ = io.WriteString(w, set)
		case r.URL.RawQuery == "key=tell":
			http.Redirect(w, r, "/moved", http.StatusFound)
		default:
			t.Errorf("it requests %s from %q", r.URL, r.Referer())
		}
	})
	must.Do(t, verifier.Fetch(t.Context()))
	broken := errors.New("broken")
	verifier.issuer.client.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, broken })
	err := verifier.Fetch(t.Context())
	verifier.issuer.logFailure()
	const want = "url=https://issuer.test/jwks.json cause=broken"
	if logged := log.String(); !errors.Is(err, broken) || strings.Contains(logged+err.Error(), "tell") || !strings.Contains(logged, want) {
		t.Errorf("%v; the log: %s", err, logged)
	}
}

// A roundTripper is a function as an [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
