package auth

import (
	"fmt"
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
		check(t, verifier, accepted, old.named())

		site.responds(http.StatusBadGateway, "")
		pass(issuerInterval + time.Second)
		check(t, verifier, accepted, old.named())
		if logged := log.String(); strings.Count(logged, "level=ERROR") != 1 || !strings.Contains(logged, "502") {
			t.Errorf("the log: %s", logged)
		}
		site.publishes(t, fresh)
		pass(issuerInterval)
		site.wantRequests(t, 3)
		check(t, verifier, refused, old.named())
		check(t, verifier, accepted, fresh.named())
	})
}

// TestIssuerDownAtStart checks that the set is fetched every five seconds until that succeeds once,
// and failures are logged when they begin and every five minutes. Afterwards it is fetched every five
// minutes.
func TestIssuerDownAtStart(t *testing.T) {
	t.Parallel()
	known := ecKind(t, "known")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, log := issuerOf(t)
		site.responds(http.StatusBadGateway, "")
		must.Do(t, verifier.Start(t.Context()))
		if logged := log.String(); logged != "" {
			t.Errorf("logged before the server runs: %s", logged)
		}
		go verifier.Watch(t.Context())
		pass(3 * issuerRetry)
		site.responds(http.StatusServiceUnavailable, "")
		pass(issuerRetry)
		if logged := log.String(); !strings.Contains(logged, "502") || !strings.Contains(logged, "503") {
			t.Errorf("the log after another failure: %s", logged)
		}
		pass(issuerInterval - 4*issuerRetry + time.Second)
		site.wantRequests(t, 61)
		if logged := log.String(); strings.Count(logged, `effect="all tokens of the issuer are refused"`) != 2 {
			t.Errorf("the log: %s", logged)
		}
		if err := verifier.Ready(); err == nil || !strings.Contains(err.Error(), "503") {
			t.Errorf("Ready: %v", err)
		}
		site.publishes(t, known)
		pass(issuerRetry)
		check(t, verifier, accepted, known.named())
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
			after time.Duration
			want  string
		}{{24*time.Hour - time.Second, accepted}, {2 * time.Second, refused}, {time.Hour, refused}} {
			pass(step.after)
			check(t, verifier, step.want, known.named())
			check(t, verifier, accepted, local.named())
			if ready := verifier.Ready() == nil; ready != (step.want == accepted) || ready != (verifier.Stats().Issuer.Keys == 1) {
				t.Errorf("Ready: %v, %+v", verifier.Ready(), *verifier.Stats().Issuer)
			}
		}
		site.publishes(t, known)
		pass(issuerRetry)
		check(t, verifier, accepted, known.named())
	})
}

// TestUnknownKeysAreRateLimited checks that the same unknown kid causes one fetch in 30 s, and does not delay the
// keys of others; and that all of them cause eight.
func TestUnknownKeysAreRateLimited(t *testing.T) {
	t.Parallel()
	known, fresh, other := ecKind(t, "known"), ecKind(t, "fresh"), ecKind(t, "other")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, _ := issuerOf(t, known)
		check(t, verifier, refused, fresh.named())
		site.publishes(t, fresh, other)
		time.Sleep(issuerPause - time.Second)
		check(t, verifier, refused, fresh.named())
		site.wantRequests(t, 2)
		check(t, verifier, accepted, other.named(), fresh.named())
		site.wantRequests(t, 3)
		for i := range 20 {
			check(t, verifier, refused, known.headed(fmt.Sprintf(`{"alg":"own","kid":"%d"}`, i)))
		}
		site.wantRequests(t, 1+issuerBurst)
		time.Sleep(issuerPause)
		check(t, verifier, refused, known.named())
		site.wantRequests(t, 2+issuerBurst)
	})
}

// TestNoKeysYet checks that while the issuer has never given keys, a token that no key verifies is error 503
// (C4.25b), and that such a token fetches the keys.
func TestNoKeysYet(t *testing.T) {
	t.Parallel()
	known, local := ecKind(t, "known"), ecKind(t, "local")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, _ := issuerOf(t)
		setKeys(t, verifier, local)
		for _, set := range []string{"", `{"keys":[]}`} {
			site.responds(map[bool]int{true: http.StatusBadGateway, false: http.StatusOK}[set == ""], set)
			check(t, verifier, noKeys, known.named(), known.token(`{}`), hs256.token(`{}`))
			check(t, verifier, badForm, "x")
			check(t, verifier, "expired", local.sign(`{"alg":"own","kid":"local"}`, `{"exp":0}`))
			check(t, verifier, accepted, local.named())
			time.Sleep(issuerPause)
		}
		site.publishes(t, known)
		check(t, verifier, accepted, known.named())
		site.responds(http.StatusOK, `{"keys":[]}`)
		must.Do(t, verifier.Fetch(t.Context()))
		check(t, verifier, badSignature, known.named())
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
		slow.Go(func() { check(t, verifier, refused, stranger.named()) })
		synctest.Wait()
		site.publishes(t, fresh)
		if err := verifier.Fetch(t.Context()); err != nil || time.Since(started) != delay {
			t.Errorf("after %v: %v", time.Since(started), err)
		}
		slow.Wait()
		check(t, verifier, refused, old.named())
		check(t, verifier, accepted, fresh.named())
	})
}

// TestUnresponsiveIssuer checks that tokens with unknown keys share a fetch, and that a site that does not
// respond delays them by at most five seconds, and no others.
func TestUnresponsiveIssuer(t *testing.T) {
	t.Parallel()
	known, stranger := ecKind(t, "known"), ecKind(t, "stranger")
	synctest.Test(t, func(t *testing.T) {
		site, verifier, _ := issuerOf(t, known)
		site.handle(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
		started := time.Now()
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				check(t, verifier, refused, stranger.named())
				if waited := time.Since(started); waited != issuerTimeout {
					t.Errorf("it took %v, want %v", waited, issuerTimeout)
				}
			})
		}
		synctest.Wait()
		check(t, verifier, accepted, known.named())
		if waited := time.Since(started); waited != 0 {
			t.Errorf("a token with a known key waited %v", waited)
		}
		wg.Wait()
		site.wantRequests(t, 2)
		check(t, verifier, refused, stranger.named())
		if waited := time.Since(started); waited != issuerTimeout {
			t.Errorf("it took %v more", waited-issuerTimeout)
		}
	})
}
