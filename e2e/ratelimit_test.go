package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/oas"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// TestRateLimit checks that clients that exceed the rate limit, and wait as Retry-After
// requires, all succeed eventually, at that rate, and that each refusal matches the description.
func TestRateLimit(t *testing.T) {
	t.Parallel()
	const creates, perSecond, clients = 120, 40, 8
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--rate-limit", fmt.Sprintf("%d/s", perSecond)}})
	client := &http.Client{Timeout: patience, Transport: &oas.Recorder{
		Checker: checkerOf(t, server), Base: http.DefaultTransport, Report: func(_ *http.Request, err error) { t.Error(err) },
	}}
	token := server.Token()
	start := time.Now()
	var next, refused atomic.Int64
	var wg sync.WaitGroup
	for range clients {
		wg.Go(func() {
			for id := next.Add(1); id <= creates; id = next.Add(1) {
				for !createPatiently(t, client, server, token, id) {
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
	if metrics := get(t, server.AdminURL+"/metrics"); !bytes.Contains(metrics, []byte("\n"+line+"\n")) {
		t.Errorf("the metrics lack %s", line)
	}
	t.Logf("%d creates in %v, %d refused", creates, took, refused.Load())
}

// createPatiently creates a plant. If the rate limit refuses it, createPatiently waits as long
// as Retry-After requires, and returns false.
func createPatiently(t *testing.T, client *http.Client, server *plantstore.Server, token string, id int64) (created bool) {
	t.Helper()
	response, err := tryPost(t.Context(), client, server, token, fmt.Sprintf(`{"id":%d,"name":"fern"}`, id))
	if err != nil {
		t.Error(err)
		return true
	}
	defer response.Body.Close()
	got := failure(t, response)
	switch got.Code {
	case 0:
		return true
	case models.CodeTooManyRequests:
		seconds, err := strconv.Atoi(response.Header.Get("Retry-After"))
		if err != nil || seconds < 1 {
			t.Errorf("Retry-After %q", response.Header.Get("Retry-After"))
		}
		select {
		case <-time.After(time.Duration(seconds) * time.Second):
		case <-t.Context().Done():
			return true
		}
		return false
	}
	t.Errorf("error %d (%s)", got.Code, got.Message)
	return true
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
			if response := post(t, http.DefaultClient, server, token, `{`); failure(t, response).Code == models.CodeBadRequest {
				allowed++
			}
		}
		if allowed != 3 {
			t.Errorf("subject %q: %d requests are allowed, want 3", subject, allowed)
		}
	}
	for range 9 {
		if _, body := fetch(t, server.DescriptionURL); !bytes.Contains(body, []byte("openapi: ")) {
			t.Errorf("the description is limited: %s", body)
		}
	}
}

// TestConformanceWithRateLimit checks that the conformance command works with a limited server,
// and shows the limit.
func TestConformanceWithRateLimit(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"RATE_LIMIT=500/s"}})
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(server.Token()), 0o600); err != nil {
		t.Fatal(err)
	}
	args := []string{"conformance", "--url", server.BaseURL, "--token-file", file, "--format", "junit", "--rate-limit"}
	out, err := plantstore.Command(t, server.Dir, nil, append(args, "500/s")...).Output()
	if err != nil || !strings.Contains(string(out), "429 for too many requests") || strings.Contains(string(out), "<failure") {
		t.Errorf("%v\n%.2000s", err, out)
	}
}
