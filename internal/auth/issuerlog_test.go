package auth

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// TestIgnoredKeysAreLoggedOnce checks that ignored keys are logged once, not at each fetch, and
// again after a set without any.
func TestIgnoredKeysAreLoggedOnce(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, issuer, _, log := quietIssuer(t, good)
	valid := jwkOf(t, good.key.material, nil)
	for _, phase := range []struct {
		set  string
		want int // lines in the log after three fetches
	}{
		{setOf(t, valid), 0},
		{setOf(t, valid, jwkOf(t, good.key.material, jwk{"use": "enc"})), 1},
		{setOf(t, valid), 1},
		{setOf(t, valid, jwkOf(t, good.key.material, jwk{"use": "enc"})), 2},
	} {
		site.responds(http.StatusOK, phase.set)
		for range 3 {
			if err := issuer.Fetch(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if logged := log.String(); strings.Count(logged, "\n") != phase.want || strings.Count(logged, "key 2 of the set") != phase.want {
			t.Errorf("after %s the log is: %s", phase.set, logged)
		}
	}
}

// TestIssuerFailuresHideURLs checks that errors of a fetch never quote a query or a proxy
// (C4.25), unlike errors of net/http, but keep the useful part.
func TestIssuerFailuresHideURLs(t *testing.T) {
	t.Parallel()
	const secret = "sig=SECRET"
	closed := httptest.NewTLSServer(http.NotFoundHandler())
	closed.Close()
	to := func(location string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", location)
			w.WriteHeader(http.StatusFound)
		}
	}
	raw := func(response string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = buffered.WriteString(response)
			_ = buffered.Flush()
		}
	}
	broken := raw("")
	for name, test := range map[string]struct {
		response http.HandlerFunc
		want     string
	}{
		"a malformed URL":    {to("http://%zz/x?" + secret), "curl --verbose"},
		"with a space in it": {to("http://a b/x y? " + secret), "curl --verbose"},
		"plain http":         {to("http://keys.invalid/?" + secret), "redirects"},
		"without a host":     {to("https:///?" + secret), "redirects"},
		"another port":       {to(closed.URL + "/?" + secret), "redirects"},
		"a closed connection": {func(w http.ResponseWriter, r *http.Request) {
			if r.URL.RawQuery != "" {
				broken(w, r)
				return
			}
			to("/?"+secret)(w, r)
		}, "EOF"},
		"no header":           {raw("HTTP/1.1 302 Found\r\nhttps//keys.invalid/?" + secret + "\r\n\r\n"), "curl --verbose"},
		"no status":           {raw("GET http://keys.invalid/?" + secret + "\r\n\r\n"), "curl --verbose"},
		"a malformed trailer": {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + secret + "\r\n\r\n"), "curl --verbose"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, issuer, _ := startIssuer(t, ecKind(t, "good"))
			site.handle(test.response)
			err := issuer.Fetch(t.Context())
			if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	t.Run("a proxy", func(t *testing.T) {
		t.Parallel()
		_, issuer, _ := startIssuer(t, ecKind(t, "good"))
		issuer.client.Transport = &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { // as ProxyFromEnvironment does
			return nil, errors.New(`invalid proxy address "http://me:` + secret + `@%zz"`)
		}}
		if err := issuer.Fetch(t.Context()); err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "HTTPS_PROXY") {
			t.Errorf("got %v", err)
		}
	})
}

// TestRedirectOmitsReferer checks that a redirect does not forward the query in Referer.
func TestRedirectOmitsReferer(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	set := setOf(t, jwkOf(t, good.key.material, nil))
	site, issuer, _ := startIssuer(t, good)
	issuer.url += "?sig=SECRET"
	site.handle(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			http.Redirect(w, r, "/moved", http.StatusFound)
			return
		}
		if referer := r.Referer(); referer != "" {
			t.Errorf("Referer is %s", referer)
		}
		_, _ = io.WriteString(w, set)
	})
	if err := issuer.Fetch(t.Context()); err != nil {
		t.Error(err)
	}
	if n := site.requests.Load(); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

// TestIssuerHidesQuery checks that the query of the URL is sent, but never logged or in an
// error (C4.25).
func TestIssuerHidesQuery(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, log := new(site), new(bytes.Buffer)
	issuer := NewIssuer("https://issuer.test/k.json?key=tell", NewVerifier(Options{}), slog.New(slog.NewTextHandler(log, nil)))
	issuer.client.Transport = site
	set := setOf(t, jwkOf(t, good.key.material, nil), jwkOf(t, good.key.material, jwk{"use": "enc"}))
	site.handle(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "key=tell" {
			t.Errorf("it requests %s", r.URL)
		}
		_, _ = io.WriteString(w, set)
	})
	if err := issuer.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	site.responds(http.StatusBadGateway, "")
	issuer.logFailure(t.Context(), issuer.Fetch(t.Context()))
	if logged := log.String(); strings.Contains(logged, "tell") || strings.Count(logged, "https://issuer.test/k.json") != 2 {
		t.Errorf("the log: %s", logged)
	}
}

// TestIssuerLogsAfterPublishing checks that tokens are verified with the new keys while ignored
// keys are logged, which may take long.
func TestIssuerLogsAfterPublishing(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, verifier, logged := new(site), NewVerifier(Options{}), false
	issuer := NewIssuer("https://issuer.test/", verifier, slog.New(onRecord(func() {
		logged = true
		checkVerifies(t, verifier, map[string]bool{good.named(): true})
	})))
	issuer.client.Transport = site
	site.responds(http.StatusOK, setOf(t, jwkOf(t, good.key.material, jwk{"kid": "good"}), jwkOf(t, good.key.material, jwk{"use": "enc"})))
	if err := issuer.Fetch(t.Context()); err != nil || !logged {
		t.Errorf("%v; logged: %v", err, logged)
	}
}

// An onRecord is a handler that does something at each record.
type onRecord func()

func (h onRecord) Enabled(context.Context, slog.Level) bool  { return true }
func (h onRecord) Handle(context.Context, slog.Record) error { h(); return nil }
func (h onRecord) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h onRecord) WithGroup(string) slog.Handler             { return h }
