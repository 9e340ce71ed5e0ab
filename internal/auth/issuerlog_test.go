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

// Keys that are left out are told once, not every five minutes, and anew after a set without any.
func TestKeysLeftOutAreToldOnce(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, issuer, _, log := quietIssuer(t, good)
	whole := jwkOf(t, good.key.material, nil)
	for _, phase := range []struct {
		set  string
		want int // lines in the log after three fetches
	}{
		{setOf(t, whole), 0},
		{setOf(t, whole, jwkOf(t, good.key.material, jwk{"use": "enc"})), 1},
		{setOf(t, whole), 1},
		{setOf(t, whole, jwkOf(t, good.key.material, jwk{"use": "enc"})), 2},
	} {
		site.says(http.StatusOK, phase.set)
		for range 3 {
			if err := issuer.Fetch(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if said := log.String(); strings.Count(said, "\n") != phase.want || strings.Count(said, "key 2 of the set") != phase.want {
			t.Errorf("after %s the log is: %s", phase.set, said)
		}
	}
}

// No error of a fetch quotes a query, wherever the issuer leads to, or a proxy (C4.25): those of
// net/http do. What is of use in them stays.
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
	raw := func(answer string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, buffered, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = conn.Close() }()
			_, _ = buffered.WriteString(answer)
			_ = buffered.Flush()
		}
	}
	broken := raw("")
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"a malformed URL":    {to("http://%zz/x?" + secret), "curl --verbose"},
		"with a space in it": {to("http://a b/x y? " + secret), "curl --verbose"},
		"plain http":         {to("http://keys.invalid/?" + secret), "redirects"},
		"without a host":     {to("https:///?" + secret), "curl --verbose"},
		"a closed port":      {to(closed.URL + "/?" + secret), "refused"},
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
			site.does(test.answer)
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

// Where the issuer redirects to is not told what the query was.
func TestRedirectKeepsQueryBack(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	set := setOf(t, jwkOf(t, good.key.material, nil))
	site, issuer, _ := startIssuer(t, good)
	issuer.url += "?sig=SECRET"
	site.does(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "" {
			http.Redirect(w, r, "/moved", http.StatusFound)
			return
		}
		if referer := r.Referer(); referer != "" {
			t.Errorf("it is told %s", referer)
		}
		_, _ = io.WriteString(w, set)
	})
	if err := issuer.Fetch(t.Context()); err != nil {
		t.Error(err)
	}
	if n := site.asked.Load(); n != 3 {
		t.Errorf("asked %d times, want 3", n)
	}
}

// What of the URL may hold a secret is in no log and no error (C4.25), but is sent.
func TestIssuerHidesQuery(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, log := new(site), new(bytes.Buffer)
	issuer := NewIssuer("https://me:tell@issuer.test/k.json?key=tell#f", NewVerifier(Options{}), slog.New(slog.NewTextHandler(log, nil)))
	issuer.client.Transport = site
	set := setOf(t, jwkOf(t, good.key.material, nil), jwkOf(t, good.key.material, jwk{"use": "enc"}))
	site.does(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.RawQuery != "key=tell" {
			t.Errorf("it asks for %s", r.URL)
		}
		_, _ = io.WriteString(w, set)
	})
	if err := issuer.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	site.says(http.StatusBadGateway, "")
	issuer.fetchOrLog(t.Context())
	if said := log.String(); strings.Contains(said, "tell") || strings.Count(said, "https://issuer.test/k.json") != 2 {
		t.Errorf("the log: %s", said)
	}
	if got := shownURL("%"); got != Redacted {
		t.Errorf("what is no URL is shown as %s", got)
	}
}

// What is said about left out keys is said while nothing is locked that others need.
func TestIssuerTellsUnlocked(t *testing.T) {
	t.Parallel()
	issuer := NewIssuer("https://issuer.test/", NewVerifier(Options{}), nil)
	locked := true
	issuer.logger = slog.New(onRecord(func() {
		if locked = !issuer.mu.TryLock(); !locked {
			issuer.mu.Unlock()
		}
	}))
	issuer.put(1, nil, []error{errNoKey})
	if locked {
		t.Error("it logs while it holds the lock, or not at all")
	}
}

// An onRecord is a handler that does something at each record.
type onRecord func()

func (h onRecord) Enabled(context.Context, slog.Level) bool  { return true }
func (h onRecord) Handle(context.Context, slog.Record) error { h(); return nil }
func (h onRecord) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h onRecord) WithGroup(string) slog.Handler             { return h }
