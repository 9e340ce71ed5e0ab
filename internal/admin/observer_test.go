package admin_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/internal/admin"
	"plantstore/models"
)

func TestObserver(t *testing.T) {
	t.Parallel()
	o := admin.NewObserver()
	for _, response := range []struct {
		method string
		code   models.Code
	}{
		{http.MethodPost, 0},
		{http.MethodPost, 0},
		{http.MethodGet, 0},
		{http.MethodGet, 404},
		{http.MethodPost, 409},
		{http.MethodPost, 409},
		{http.MethodPost, 500},
		{http.MethodPost, 507},
		{http.MethodPost, 999}, // unknown
	} {
		o.Request(response.method, response.code, time.Second, models.Fault{})
	}
	text := send(t, newHandler(t, newStore(), func(options *admin.Options) { options.Observer = o }), http.MethodGet, "/metrics").Body.String()
	for outcome, want := range map[string]int{"created": 2, "read": 1, "refused": 3, "failed": 3} {
		for _, line := range []string{
			fmt.Sprintf("plantstore_request_duration_seconds_bucket{outcome=%q,le=\"0.5\"} 0", outcome),
			fmt.Sprintf("plantstore_request_duration_seconds_bucket{outcome=%q,le=\"1\"} %d", outcome, want),
			fmt.Sprintf("plantstore_request_duration_seconds_sum{outcome=%q} %d", outcome, want),
			fmt.Sprintf("plantstore_request_duration_seconds_count{outcome=%q} %d", outcome, want),
		} {
			if !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("the metrics lack %s", line)
			}
		}
	}
	for series, want := range map[string]int{
		`outcome="created",error="0"`: 2, `outcome="read",error="0"`: 1, `outcome="refused",error="404"`: 1,
		`outcome="refused",error="409"`: 2, `outcome="failed",error="500"`: 2, `outcome="failed",error="507"`: 1,
		`outcome="failed",error="503"`: 0,
	} {
		if line := fmt.Sprintf("plantstore_requests_total{%s} %d\n", series, want); !strings.Contains(text, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

func TestObserverRacing(t *testing.T) {
	t.Parallel()
	const goroutines, each = 8, 1000
	o := admin.NewObserver()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for range each {
				o.Commit(2, 3*time.Millisecond)
			}
		})
	}
	all.Wait()
	text := send(t, newHandler(t, newStore(), func(options *admin.Options) { options.Observer = o }), http.MethodGet, "/metrics").Body.String()
	for _, line := range []string{"plantstore_commit_plants_sum 16000", `plantstore_commit_duration_seconds_bucket{le="0.005"} 8000`} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
}

// TestObserverAllocations checks that observing a request does not allocate.
//
//nolint:paralleltest // others allocate
func TestObserverAllocations(t *testing.T) {
	o := admin.NewObserver()
	if n := testing.AllocsPerRun(100, func() { o.Request(http.MethodPost, 409, time.Millisecond, models.Fault{}) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
