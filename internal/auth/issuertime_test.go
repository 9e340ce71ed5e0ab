package auth

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/must"
)

// TestIssuerFetchesPeriodically checks that the set is fetched every five minutes. A failure is
// logged and keeps the keys.
func TestIssuerFetchesPeriodically(t *testing.T) {
	t.Parallel()
	old, fresh := ecKind(t, "old"), ecKind(t, "fresh")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		site, issuer, verifier, log := quietIssuer(t, old)
		var watch sync.WaitGroup
		watch.Go(func() { issuer.Watch(ctx) })
		checkVerifies(t, verifier, map[string]bool{old.named(): true})

		site.responds(http.StatusBadGateway, "")
		time.Sleep(issuerInterval + time.Second)
		synctest.Wait()
		checkVerifies(t, verifier, map[string]bool{old.named(): true})
		if logged := log.String(); strings.Count(logged, "level=ERROR") != 1 || !strings.Contains(logged, "502") {
			t.Errorf("the log: %s", logged)
		}
		site.publishes(t, fresh)
		time.Sleep(issuerInterval)
		synctest.Wait()
		checkVerifies(t, verifier, map[string]bool{old.headed(`{"alg":"HS256"}`): false, fresh.headed(`{"alg":"HS256"}`): true})
		if n := site.requests.Load(); n != 3 {
			t.Errorf("%d requests, want at the start and twice", n)
		}
		cancel()
		watch.Wait()
	})
}

// TestIssuerDownAtStart checks that the set is fetched every five seconds until that succeeds once,
// and a failure is logged when it begins and every five minutes. Afterwards it is fetched every five
// minutes.
func TestIssuerDownAtStart(t *testing.T) {
	t.Parallel()
	known := ecKind(t, "known")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		site, issuer, verifier, log := newQuietIssuer()
		site.responds(http.StatusServiceUnavailable, "")
		must.Do(t, issuer.Start(ctx))
		if logged := log.String(); logged != "" {
			t.Errorf("logged before the server runs: %s", logged)
		}
		var watch sync.WaitGroup
		watch.Go(func() { issuer.Watch(ctx) })
		time.Sleep(issuerInterval + time.Second)
		synctest.Wait()
		if n := site.requests.Load(); n != 61 {
			t.Errorf("%d requests in five minutes, want 61", n)
		}
		if logged := log.String(); strings.Count(logged, `effect="all tokens of the issuer are refused"`) != 2 {
			t.Errorf("the log: %s", logged)
		}
		if err := issuer.Ready(); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("Ready: %v", err)
		}
		site.publishes(t, known)
		time.Sleep(issuerRetry)
		synctest.Wait()
		checkVerifies(t, verifier, map[string]bool{known.named(): true})
		if err := issuer.Ready(); err != nil || !strings.Contains(log.String(), "issuer keys fetched") {
			t.Errorf("Ready: %v; the log: %s", err, log)
		}
		if got, want := issuer.Stats(), (IssuerStats{Fetched: time.Now().Add(-time.Second), Failures: 61, Keys: 1}); got != want {
			t.Errorf("Stats: %+v, want %+v", got, want)
		}
		time.Sleep(issuerInterval)
		synctest.Wait()
		if n := site.requests.Load(); n != 63 {
			t.Errorf("%d requests, want 63", n)
		}
		cancel()
		watch.Wait()
	})
}

// TestWrongURLIsReported checks which responses show at the start that the URL is wrong.
func TestWrongURLIsReported(t *testing.T) {
	t.Parallel()
	good := ecKind(t, "good")
	set := setOf(t, jwkOf(t, good.key.material, nil))
	for name, test := range map[string]struct {
		status int
		body   string
		wrong  bool
	}{
		"a set":               {200, set, false},
		"an empty set":        {200, `{"keys":[]}`, false},
		"no usable key":       {200, setOf(t, jwk{"kty": "AKP"}), false},
		"a page":              {200, "<html>login</html>", true},
		"the discovery":       {200, `{"issuer":"https://a","jwks_uri":"https://a/keys"}`, true},
		"a private key":       {200, setOf(t, jwkOf(t, good.key.material, jwk{"d": "AAAA"})), true},
		"no content":          {204, "", true},
		"moved":               {301, "", true},
		"not found":           {404, "<html>", true},
		"credential required": {401, "", true},
		"timeout":             {408, "", false},
		"too many requests":   {429, "", false},
		"failure":             {500, set, false},
		"gateway":             {502, "<html>", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, issuer, _, _ := newQuietIssuer()
			site.responds(test.status, test.body)
			if err := issuer.Start(t.Context()); (err != nil) != test.wrong {
				t.Errorf("Start: %v, want an error: %t", err, test.wrong)
			}
			if ready := issuer.Ready() == nil; ready != (name == "a set") {
				t.Errorf("Ready: %v", issuer.Ready())
			}
		})
	}
	site, issuer, _, _ := newQuietIssuer()
	site.handle(http.RedirectHandler("https://login.test/", http.StatusFound).ServeHTTP)
	if err := issuer.Start(t.Context()); err == nil {
		t.Error("a redirect to another host is not reported")
	}
	issuer.client.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF })
	if err := issuer.Start(t.Context()); err != nil {
		t.Errorf("a lost connection is reported as a wrong URL: %v", err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := issuer.Start(ended); err == nil || issuer.Stats().Failures != 2 {
		t.Errorf("interrupted: %v, %+v", err, issuer.Stats())
	}
}

// TestOldKeysAreRemoved checks that keys are removed 24 hours after the last successful fetch, and
// accepted again after the next one.
func TestOldKeysAreRemoved(t *testing.T) {
	t.Parallel()
	known, local := ecKind(t, "known"), ecKind(t, "local")
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		site, issuer, verifier, _ := quietIssuer(t, known)
		verifier.SetKeys([]Key{local.key})
		var watch sync.WaitGroup
		watch.Go(func() { issuer.Watch(ctx) })
		site.responds(http.StatusBadGateway, "")
		for _, step := range []struct {
			after    time.Duration
			accepted bool
		}{{24*time.Hour - time.Second, true}, {2 * time.Second, false}, {time.Hour, false}} {
			time.Sleep(step.after)
			synctest.Wait()
			checkVerifies(t, verifier, map[string]bool{known.headed(`{"alg":"HS256"}`): step.accepted, local.named(): true})
			if ready := issuer.Ready() == nil; ready != step.accepted || ready != (issuer.Stats().Keys == 1) {
				t.Errorf("Ready: %v, %+v", issuer.Ready(), issuer.Stats())
			}
		}
		site.publishes(t, known)
		time.Sleep(issuerRetry)
		synctest.Wait()
		checkVerifies(t, verifier, map[string]bool{known.headed(`{"alg":"HS256"}`): true})
		cancel()
		watch.Wait()
	})
}

// TestUnknownKeysAreRateLimited checks that unknown keys cause at most one fetch in 30 s.
func TestUnknownKeysAreRateLimited(t *testing.T) {
	t.Parallel()
	known, fresh := ecKind(t, "known"), ecKind(t, "fresh")
	synctest.Test(t, func(t *testing.T) {
		site, _, verifier, _ := quietIssuer(t, known)
		checkVerifies(t, verifier, map[string]bool{fresh.named(): false})
		site.publishes(t, fresh)
		time.Sleep(issuerPause - time.Second)
		checkVerifies(t, verifier, map[string]bool{fresh.named(): false})
		if n := site.requests.Load(); n != 2 {
			t.Errorf("%d requests, want 2", n)
		}
		time.Sleep(time.Second)
		checkVerifies(t, verifier, map[string]bool{fresh.named(): true})
		if n := site.requests.Load(); n != 3 {
			t.Errorf("%d requests, want 3", n)
		}
	})
}

// TestFetchAfterSlowFetch checks that a slow fetch does not restore a key that was revoked
// meanwhile: a later fetch waits for it.
func TestFetchAfterSlowFetch(t *testing.T) {
	t.Parallel()
	old, fresh, stranger := ecKind(t, "old"), ecKind(t, "fresh"), ecKind(t, "stranger")
	const delay = issuerTimeout - time.Second
	synctest.Test(t, func(t *testing.T) {
		site, issuer, verifier, _ := quietIssuer(t, old)
		before := setOf(t, jwkOf(t, old.key.material, nil))
		site.handle(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(delay)
			_, _ = io.WriteString(w, before)
		})
		started := time.Now()
		var slow sync.WaitGroup
		slow.Go(func() { checkVerifies(t, verifier, map[string]bool{stranger.named(): false}) })
		synctest.Wait()
		site.publishes(t, fresh)
		if err := issuer.Fetch(t.Context()); err != nil || time.Since(started) != delay {
			t.Errorf("after %v: %v", time.Since(started), err)
		}
		slow.Wait()
		checkVerifies(t, verifier, map[string]bool{old.headed(`{"alg":"HS256"}`): false, fresh.headed(`{"alg":"HS256"}`): true})
	})
}

// TestUnresponsiveIssuer checks that a site that does not respond delays tokens with unknown
// keys by at most five seconds.
func TestUnresponsiveIssuer(t *testing.T) {
	t.Parallel()
	known, stranger := ecKind(t, "known"), ecKind(t, "stranger")
	synctest.Test(t, func(t *testing.T) {
		site, _, verifier, _ := quietIssuer(t, known)
		site.handle(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		started := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() { checkVerifies(t, verifier, map[string]bool{stranger.named(): false, known.named(): true}) })
		}
		wg.Wait()
		if waited := time.Since(started); waited != issuerTimeout {
			t.Errorf("it took %v, want %v", waited, issuerTimeout)
		}
		checkVerifies(t, verifier, map[string]bool{stranger.named(): false})
		if waited := time.Since(started); waited != issuerTimeout {
			t.Errorf("it took %v more", waited-issuerTimeout)
		}
	})
}
