package e2e

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// TestRateLimit checks that clients that exceed the rate limit, and wait as Retry-After
// requires, all succeed eventually, at that rate, and that each refusal matches the description.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const creates, perSecond, clients = 120, 40, 8
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--rate-limit", fmt.Sprintf("%d/s", perSecond)}})
	checker, token := newChecker(t, server), server.Token()
	start := time.Now()
	var next, refused atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for id := next.Add(1); id <= creates; id = next.Add(1) {
				for !createPatiently(t, server, checker, token, id) {
					refused.Add(1)
				}
			}
		})
	}
	wg.Wait()
	took := time.Since(start)
	if least := time.Duration(creates-perSecond) * time.Second / perSecond; took < least*9/10 {
		t.Errorf("%d creates in %v, faster than %d at once and %d/s", creates, took, perSecond, perSecond)
	}
	if refused.Load() == 0 {
		t.Error("the limit was never reached")
	}
	line := fmt.Sprintf(`plantstore_requests_total{outcome="refused",error="429"} %d`, refused.Load())
	if metrics := string(get(t, server, server.AdminURL+"/metrics")); !strings.Contains(metrics, "\n"+line+"\n") {
		t.Errorf("the metrics lack %s", line)
	}
	t.Logf("%d creates in %v, %d refused", creates, took, refused.Load())
}

// createPatiently creates a plant. If the rate limit refuses it, createPatiently waits as long
// as Retry-After requires, and returns false.
func createPatiently(t *testing.T, server *plantstore.Server, checker *checker, token string, id int64) (created bool) {
	t.Helper()
	r, err := server.TryPost(token, fmt.Sprintf(`{"id":%d,"name":"fern"}`, id))
	if err == nil {
		err = checker.check(r)
	}
	if err != nil || r.Code != 0 && r.Code != models.CodeTooManyRequests {
		t.Errorf("%+v, %v", r, err)
	}
	if r.Code != models.CodeTooManyRequests {
		return true
	}
	seconds, err := strconv.Atoi(r.Header.Get("Retry-After"))
	if err != nil || seconds < 1 {
		t.Errorf("Retry-After %q", r.Header.Get("Retry-After"))
	}
	select {
	case <-time.After(time.Duration(seconds) * time.Second):
	case <-t.Context().Done():
	}
	return false
}

// TestRateLimitOfSubjects checks that each subject has its own limit, tokens without a subject
// share one, and the description has none.
func TestRateLimitOfSubjects(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"RATE_LIMIT=3/h"}})
	for _, subject := range []string{"a", "b", ""} {
		allowed := 0
		for i := range 9 {
			token := server.Token("--subject", subject, "--ttl", fmt.Sprintf("%dh", i+1)) // a different one each time
			if server.Post(token, `{`).Code == models.CodeBadRequest {
				allowed++
			}
		}
		if allowed != 3 {
			t.Errorf("subject %q: %d requests are allowed, want 3", subject, allowed)
		}
	}
	for range 9 {
		get(t, server, server.DescriptionURL)
	}
}
