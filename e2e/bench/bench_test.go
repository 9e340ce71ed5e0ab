package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/tools"
)

func TestTargets(t *testing.T) {
	t.Parallel()
	server, other := measurement{Name: "server"}, measurement{Name: "other"}
	r := results{
		// In the second round both are disturbed, but the ratio stays.
		"server": {
			{"creates": 900, "longest": 90, "memory": 20},
			{"creates": 90, "longest": 120, "memory": 60},
			{"creates": 1000, "longest": 80, "memory": 10},
		},
		"other": {{"creates": 100}, {"creates": 10, "bad": 1}, {"creates": 125}},
	}
	for got, tt := range map[string]target{
		"9.00":            {"ratio", "creates", "≥ 9.00", []measurement{server, other}, ""},
		"9.00 missed":     {"ratio", "creates", "≥ 9.10", []measurement{server, other}, ""},
		"20.0 MB":         {"median", "memory", "≤ 20.0 MB", []measurement{server}, ""},
		"120.0 ms missed": {"worst", "longest", "≤ 100.0 ms", []measurement{server}, ""},
		"1.00 missed":     {"all", "bad", "≤ 0.00", nil, ""},
		"120.00":          {"information", "longest", "", []measurement{server}, ""},
	} {
		missed := ""
		if tt.Missed(r) {
			missed = " missed"
		}
		if tt.Got(r)+missed != got {
			t.Errorf("%s %s: %s%s, want %s", tt.Name, tt.Want, tt.Got(r), missed, got)
		}
	}
	for _, tt := range targets() {
		if (tt.Want == "") != (tt.Why == "") {
			t.Errorf("%s: a target needs a reason why a run may miss it", tt.Name)
		}
	}
}

// TestFire checks the figures of a load that pauses for more than two seconds, of which one is complete.
func TestFire(t *testing.T) {
	t.Parallel()
	tools.Require(t, "wrk")
	var requests atomic.Int64
	var all sync.RWMutex // of all handlers
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 100 {
			w.WriteHeader(http.StatusBadRequest)
			all.Lock()
			time.Sleep(2100 * time.Millisecond) // the pause
			all.Unlock()
		}
		all.RLock()
		defer all.RUnlock()
	}))
	defer server.Close()
	h := &harness{script: "create.lua"}
	fire := func(d time.Duration) sample {
		return h.fire(t.Context(), measurement{order: scattered, Clients: 4}, strings.TrimPrefix(server.URL, "http://"), 0, d)
	}
	if s := fire(4 * time.Second); s["lowest"] != 0 || s["longest"] < 2100 || s["bad"] != 1 || s["creates"] == 0 {
		t.Errorf("with a pause: %v", s)
	}
	if s := fire(2 * time.Second); s["lowest"] != 1 || s["bad"] != 0 {
		t.Errorf("without one: %v", s)
	}
}
