package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/internal/cli"
)

// TestConformanceInterrupted checks that an interrupted command prints the report of what was run.
func TestConformanceInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if seen.Add(1) > 1 { // after the probe
			interrupt()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	var stdout, stderr strings.Builder
	code := runProcess(ctx, cli.Process{Stdout: &stdout, Stderr: &stderr}, "conformance", "--url", s.URL, "--token", "t", "--rule", "C2.12")
	if want := ":    0 passed   0 failed"; code != 1 || stderr.String() != "plantstore: interrupted\n" || !strings.Contains(stdout.String(), want) {
		t.Errorf("exit code %d, want 1; stderr %q; the report lacks %q:\n%s", code, &stderr, want, &stdout)
	}
}
