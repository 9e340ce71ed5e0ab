package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
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
	const creates, perSecond, burst, clients = 120, 50, 20, 8
	server := plantstore.Start(t, plantstore.Options{Args: []string{"--rate-limit", fmt.Sprintf("%d/s", perSecond), "--rate-limit-burst", strconv.Itoa(burst)}})
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
	if least := time.Duration(creates-burst) * time.Second / perSecond; took < least*9/10 {
		t.Errorf("%d creates in %v, faster than %d at once and %d/s", creates, took, burst, perSecond)
	}
	if refused.Load() == 0 {
		t.Error("the limit was never reached")
	}
	counted := int64(0) // by address or by subject: the two buckets are filled at different times
	for _, match := range regexp.MustCompile(`\nplantstore_rate_limited_total\{by="\w+"\} (\d+)`).FindAllSubmatch(get(t, server.AdminURL+"/metrics"), -1) {
		n, err := strconv.ParseInt(string(match[1]), 10, 64)
		if err != nil {
			t.Error(err)
		}
		counted += n
	}
	if counted != refused.Load() {
		t.Errorf("the metrics count %d refusals, want %d", counted, refused.Load())
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

// TestRateLimitBy checks that by subject, each subject has its own limit, tokens without a
// subject share one, and paths without authentication have none. By address, all share one.
func TestRateLimitBy(t *testing.T) {
	t.Parallel()
	const burst = 3
	for by, want := range map[string]string{"subject": "a:3 b:3 :3 docs:9", "address": "a:3 b:0 :0 docs:0"} {
		t.Run(by, func(t *testing.T) {
			t.Parallel()
			server := plantstore.Start(t, plantstore.Options{Env: []string{
				"RATE_LIMIT=1/h", "RATE_LIMIT_BURST=" + strconv.Itoa(burst), "RATE_LIMIT_BY=" + by,
			}})
			var got []string
			for _, subject := range []string{"a", "b", ""} {
				allowed := 0
				for i := range 9 {
					token := server.Token("--subject", subject, "--ttl", fmt.Sprintf("%dh", i+1)) // a different one each time
					if response := post(t, http.DefaultClient, server, token, `{`); failure(t, response).Code == models.CodeBadRequest {
						allowed++
					}
				}
				got = append(got, fmt.Sprintf("%s:%d", subject, allowed))
			}
			docs := 0
			for range 9 {
				if _, body := fetch(t, server.DescriptionURL); bytes.Contains(body, []byte("openapi: ")) {
					docs++
				}
			}
			got = append(got, fmt.Sprintf("docs:%d", docs))
			if all := strings.Join(got, " "); all != want {
				t.Errorf("allowed %s, want %s", all, want)
			}
		})
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
