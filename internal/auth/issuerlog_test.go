package auth

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
)

// Keys that are left out are told once, not every five minutes.
func TestKeysLeftOutAreToldOnce(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	site, issuer, _, log := quietIssuer(t, good)
	site.says(http.StatusOK, setOf(t, jwkOf(t, good.key.material, nil), jwkOf(t, good.key.material, jwk{"use": "enc"})))
	for range 3 {
		if err := issuer.Fetch(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if said := log.String(); strings.Count(said, "left out") != 1 || !strings.Contains(said, "key 2 of the set") {
		t.Errorf("the log: %s", said)
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
	issuer.tell([]error{errNoKey})
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
