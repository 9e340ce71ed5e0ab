package auth

import (
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/must"
)

// pass lets time pass in a bubble, and everything happen that is due.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// TestIssuerFetchesPeriodically checks that the set is fetched every five minutes. A failure is
// logged and keeps the keys.
func TestIssuerFetchesPeriodically(t *testing.T) {
	t.Parallel()
	old, fresh := ecKind(t, "old"), ecKind(t, "fresh")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, log := issuerOf(t, old)
		go verifier.Watch(t.Context())
		checkVerifies(t, verifier, map[string]bool{old.named(): true})

		site.responds(http.StatusBadGateway, "")
		pass(issuerInterval + time.Second)
		checkVerifies(t, verifier, map[string]bool{old.named(): true})
		if logged := log.String(); strings.Count(logged, "level=ERROR") != 1 || !strings.Contains(logged, "502") {
			t.Errorf("the log: %s", logged)
		}
		site.publishes(t, fresh)
		pass(issuerInterval)
		checkVerifies(t, verifier, map[string]bool{old.headed(`{"alg":"HS256"}`): false, fresh.headed(`{"alg":"HS256"}`): true})
		site.wantRequests(t, 3)
	})
}

// TestIssuerDownAtStart checks that the set is fetched every five seconds until that succeeds once,
// and a failure is logged when it begins and every five minutes. Afterwards it is fetched every five
// minutes.
func TestIssuerDownAtStart(t *testing.T) {
	t.Parallel()
	known := ecKind(t, "known")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, log := issuerOf(t)
		site.responds(http.StatusServiceUnavailable, "")
		must.Do(t, verifier.Start(t.Context()))
		if logged := log.String(); logged != "" {
			t.Errorf("logged before the server runs: %s", logged)
		}
		go verifier.Watch(t.Context())
		pass(issuerInterval + time.Second)
		site.wantRequests(t, 61)
		if logged := log.String(); strings.Count(logged, `effect="all tokens of the issuer are refused"`) != 2 {
			t.Errorf("the log: %s", logged)
		}
		if err := verifier.Ready(); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("Ready: %v", err)
		}
		site.publishes(t, known)
		pass(issuerRetry)
		checkVerifies(t, verifier, map[string]bool{known.named(): true})
		if err := verifier.Ready(); err != nil || !strings.Contains(log.String(), "issuer keys fetched") {
			t.Errorf("Ready: %v; the log: %s", err, log)
		}
		if got, want := *verifier.Stats().Issuer, (IssuerStats{Fetched: time.Now().Add(-time.Second), Failures: 61, Keys: 1}); got != want {
			t.Errorf("Stats: %+v, want %+v", got, want)
		}
		pass(issuerInterval)
		site.wantRequests(t, 63)
	})
}

// TestOldKeysAreRemoved checks that keys are removed 24 hours after the last successful fetch, and
// accepted again after the next one.
func TestOldKeysAreRemoved(t *testing.T) {
	t.Parallel()
	known, local := ecKind(t, "known"), ecKind(t, "local")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, _ := issuerOf(t, known)
		setKeys(t, verifier, local)
		go verifier.Watch(t.Context())
		site.responds(http.StatusBadGateway, "")
		for _, step := range []struct {
			after    time.Duration
			accepted bool
		}{{24*time.Hour - time.Second, true}, {2 * time.Second, false}, {time.Hour, false}} {
			pass(step.after)
			checkVerifies(t, verifier, map[string]bool{known.headed(`{"alg":"HS256"}`): step.accepted, local.named(): true})
			if ready := verifier.Ready() == nil; ready != step.accepted || ready != (verifier.Stats().Issuer.Keys == 1) {
				t.Errorf("Ready: %v, %+v", verifier.Ready(), *verifier.Stats().Issuer)
			}
		}
		site.publishes(t, known)
		pass(issuerRetry)
		checkVerifies(t, verifier, map[string]bool{known.headed(`{"alg":"HS256"}`): true})
	})
}

// TestUnknownKeysAreRateLimited checks that unknown keys cause at most one fetch in 30 s.
func TestUnknownKeysAreRateLimited(t *testing.T) {
	t.Parallel()
	known, fresh := ecKind(t, "known"), ecKind(t, "fresh")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, _ := issuerOf(t, known)
		checkVerifies(t, verifier, map[string]bool{fresh.named(): false})
		site.publishes(t, fresh)
		time.Sleep(issuerPause - time.Second)
		checkVerifies(t, verifier, map[string]bool{fresh.named(): false})
		site.wantRequests(t, 2)
		time.Sleep(time.Second)
		checkVerifies(t, verifier, map[string]bool{fresh.named(): true})
		site.wantRequests(t, 3)
	})
}

// TestFetchAfterSlowFetch checks that a slow fetch does not restore a key that was revoked
// meanwhile: a later fetch waits for it.
func TestFetchAfterSlowFetch(t *testing.T) {
	t.Parallel()
	old, fresh, stranger := ecKind(t, "old"), ecKind(t, "fresh"), ecKind(t, "stranger")
	const delay = issuerTimeout - time.Second
	synctest.Test(t, func(t *testing.T) {
		site, verifier, _ := issuerOf(t, old)
		before := setOf(t, jwkOf(t, old.key.Public, nil))
		site.handle(func(w http.ResponseWriter, _ *http.Request) {
			time.Sleep(delay)
			_, _ = io.WriteString(w, before)
		})
		started := time.Now()
		var slow sync.WaitGroup
		slow.Go(func() { checkVerifies(t, verifier, map[string]bool{stranger.named(): false}) })
		synctest.Wait()
		site.publishes(t, fresh)
		if err := verifier.Fetch(t.Context()); err != nil || time.Since(started) != delay {
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
		site, verifier, _ := issuerOf(t, known)
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
