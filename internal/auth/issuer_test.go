package auth

import (
	"bytes"
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
	return w.Result(), r.Context().Err()
}

func (s *site) handle(response http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.response = response
}

// publishes makes the site respond with the keys of kinds.
func (s *site) publishes(t *testing.T, kinds ...kind) {
	t.Helper()
	var keys []any
	for _, kind := range kinds {
		keys = append(keys, jwkOf(t, kind.key.material, jwk{"kid": kind.key.id}))
	}
	s.responds(http.StatusOK, setOf(t, keys...))
}

func (s *site) responds(status int, body string) {
	s.handle(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// startIssuer returns a site with a real listener, which publishes the keys, and an
// issuer that has fetched them.
func startIssuer(t *testing.T, kinds ...kind) (*site, *Issuer, *Verifier) {
	t.Helper()
	s := new(site)
	s.publishes(t, kinds...)
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	verifier := NewVerifier(Options{})
	issuer := NewIssuer(server.URL+"/jwks.json", verifier, slog.New(slog.DiscardHandler))
	t.Cleanup(issuer.client.CloseIdleConnections)
	must.Do(t, issuer.Fetch(t.Context()))
	return s, issuer, verifier
}

// named makes a token with the kid of its key.
func (k kind) named() string { return k.headed(`{"alg":"HS256","kid":"` + k.key.id + `"}`) }

// TestIssuerRotatesKeys checks that a token of a newly published key is accepted immediately,
// and one of a revoked key is rejected. An empty set revokes all keys of the issuer.
func TestIssuerRotatesKeys(t *testing.T) {
	t.Parallel()
	old, fresh, local := ecKind(t, "old"), ecKind(t, "fresh"), ecKind(t, "")
	site, issuer, verifier := startIssuer(t, old)
	verifier.SetKeys([]Key{local.key, Secret(testSecret).Key()}) // has no kid, so matches any
	checkVerifies(t, verifier, map[string]bool{old.named(): true, local.token(`{}`): true})
	site.publishes(t, fresh)
	checkVerifies(t, verifier, map[string]bool{old.named(): true})
	if n := site.requests.Load(); n != 1 {
		t.Errorf("%d requests before a new key was used, want 1", n)
	}
	checkVerifies(t, verifier, map[string]bool{fresh.named(): true})
	checkVerifies(t, verifier, map[string]bool{old.named(): false, local.token(`{}`): true, token(`{}`): true})
	if n := site.requests.Load(); n != 2 {
		t.Errorf("%d requests, want one more for the new key", n)
	}
	site.responds(http.StatusOK, `{"keys":[]}`)
	if err := issuer.Fetch(t.Context()); err != nil {
		t.Error(err)
	}
	checkVerifies(t, verifier, map[string]bool{fresh.named(): false, local.token(`{}`): true, token(`{}`): true})
}

// TestTokensOfNewKeyWaitTogether checks that requests that need a new key share one fetch, and
// other requests don't wait.
func TestTokensOfNewKeyWaitTogether(t *testing.T) {
	t.Parallel()
	known, fresh := ecKind(t, "known"), ecKind(t, "fresh")
	site, _, verifier := startIssuer(t, known)
	set := setOf(t, jwkOf(t, fresh.key.material, jwk{"kid": "fresh"}), jwkOf(t, known.key.material, jwk{"kid": "known"}))
	reached, released := make(chan struct{}), make(chan struct{})
	site.handle(func(w http.ResponseWriter, _ *http.Request) {
		close(reached)
		<-released
		_, _ = io.WriteString(w, set)
	})
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			if _, err := verifier.Verify(fresh.sign(`{"alg":"HS256","kid":"fresh"}`, fmt.Sprintf(`{"sub":"%d"}`, i))); err != nil {
				t.Error(err)
			}
		})
	}
	<-reached
	checkVerifies(t, verifier, map[string]bool{known.named(): true})
	close(released)
	wg.Wait()
	if n := site.requests.Load(); n != 2 {
		t.Errorf("%d requests, want once for all", n)
	}
}

// TestKeysFetchedMeanwhile checks that a token is verified whose key a fetch has published since
// the keys were read for it.
func TestKeysFetchedMeanwhile(t *testing.T) {
	t.Parallel()
	known, fresh := ecKind(t, "known"), ecKind(t, "fresh")
	site, issuer, verifier := startIssuer(t, known)
	set := setOf(t, jwkOf(t, fresh.key.material, jwk{"kid": "fresh"}))
	site.handle(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, set) })
	before := verifier.trusted.Load()
	issuer.refresh()
	if _, _, err := verifier.authenticate(before, fresh.sign(`{"alg":"HS256","kid":"fresh"}`, `{}`)); err != nil {
		t.Error(err)
	}
}

// TestIssuerFails checks that if a fetch fails, the previous keys stay in use and the error
// describes the cause.
func TestIssuerFails(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	forever := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := io.WriteString(w, strings.Repeat(" ", 1<<10)); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
			<-time.After(time.Millisecond)
		}
	}
	status := func(code int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			_, _ = io.WriteString(w, body)
		}
	}
	set := setOf(t, jwkOf(t, good.key.material, nil))
	for name, test := range map[string]struct {
		response http.HandlerFunc
		want     string
	}{
		"down":           {status(500, set), "500"},
		"not there":      {status(404, set), "404"},
		"no content":     {status(204, ""), "204"},
		"garbage":        {status(200, "<html>login</html>"), "not a JWK Set"},
		"empty body":     {status(200, ""), "not a JWK Set"},
		"other JSON":     {status(200, `{"error":"maintenance"}`), "not a JWK Set"},
		"cut":            {status(200, set[:len(set)-3]), "not a JWK Set"},
		"symmetric":      {status(200, setOf(t, jwk{"kty": "oct", "k": "AAAA"})), "oct"},
		"private":        {status(200, setOf(t, jwkOf(t, good.key.material, jwk{"d": "AAAA"}))), "private key"},
		"too many":       {status(200, `{"keys":[`+strings.Repeat("{},", 64)+`{}]}`), "at most 64"},
		"huge":           {status(200, set+strings.Repeat(" ", 1<<20)), "1048576"},
		"cut off":        {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"slow":           {forever, "deadline"},
		"silent":         {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "deadline"},
		"elsewhere":      {http.RedirectHandler("http://keys.invalid/", http.StatusFound).ServeHTTP, "redirects"},
		"another port":   {http.RedirectHandler("http://127.0.0.1:1/?SECRET", http.StatusFound).ServeHTTP, "redirects"},
		"another scheme": {http.RedirectHandler("https://127.0.0.1/", http.StatusFound).ServeHTTP, "redirects"},
		"round":          {http.RedirectHandler("/", http.StatusFound).ServeHTTP, "redirects"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, issuer, verifier := startIssuer(t, good)
			site.handle(test.response)
			if test.want == "deadline" {
				issuer.client.Timeout = 50 * time.Millisecond
			}
			err := issuer.Fetch(t.Context())
			if err == nil || !strings.Contains(strings.ReplaceAll(err.Error(), "Timeout", "deadline"), test.want) || strings.Contains(err.Error(), "SECRET") {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			checkVerifies(t, verifier, map[string]bool{good.named(): true})
		})
	}
}

// newQuietIssuer returns an issuer without a network, which has fetched nothing, and its log.
func newQuietIssuer() (*site, *Issuer, *Verifier, *bytes.Buffer) {
	s, log, verifier := new(site), new(bytes.Buffer), NewVerifier(Options{})
	issuer := NewIssuer("https://issuer.test/", verifier, slog.New(slog.NewTextHandler(log, nil)))
	issuer.client.Transport = s
	return s, issuer, verifier, log
}

// quietIssuer returns an issuer without a network, which has fetched the keys, and its log.
func quietIssuer(t *testing.T, kinds ...kind) (*site, *Issuer, *Verifier, *bytes.Buffer) {
	t.Helper()
	s, issuer, verifier, log := newQuietIssuer()
	s.publishes(t, kinds...)
	must.Do(t, issuer.Fetch(t.Context()))
	return s, issuer, verifier, log
}

// TestIssuerLogsChanges checks that ignored keys, and a set without any, are logged once, not at
// each fetch.
func TestIssuerLogsChanges(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, issuer, _, log := quietIssuer(t, good)
	valid, other := jwkOf(t, good.key.material, nil), jwkOf(t, good.key.material, jwk{"use": "enc"})
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
			must.Do(t, issuer.Fetch(t.Context()))
		}
		if logged := log.String(); (logged != "") != (phase.want != "") || strings.Count(logged, "\n") > 1 || !strings.Contains(logged, phase.want) {
			t.Errorf("after %s the log is: %s", phase.set, logged)
		}
	}
}

// TestIssuerHidesQuery checks that the query of the URL is sent, but never logged or in an
// error (C4.25), and not forwarded in Referer by a redirect.
func TestIssuerHidesQuery(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, issuer, _, log := quietIssuer(t, good)
	issuer.url, issuer.shown = issuer.url+"?key=tell", issuer.shown+"jwks"
	set := setOf(t, jwkOf(t, good.key.material, nil))
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
	if err := issuer.Fetch(t.Context()); err != nil {
		t.Error(err)
	}
	broken := errors.New("broken")
	issuer.client.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, broken })
	err := issuer.Fetch(t.Context())
	issuer.logFailure()
	if logged := log.String(); !errors.Is(err, broken) || strings.Contains(logged+err.Error(), "tell") || !strings.Contains(logged, "url=https://issuer.test/jwks cause=broken") {
		t.Errorf("%v; the log: %s", err, logged)
	}
}

// A roundTripper is a function as an [http.RoundTripper].
type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
