package main

import (
	"io"
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
		"server": {{"creates": 900, "longest": 90, "memory": 20}, {"creates": 90, "longest": 120, "memory": 60}, {"creates": 1000, "longest": 80, "memory": 10}},
		"other":  {{"creates": 100}, {"creates": 10, "bad": 1}, {"creates": 125}},
	}
	for got, tt := range map[string]target{
		"9.00":             {"ratio", "creates", "≥ 9.00", []measurement{server, other}},
		"9.00, missed":     {"ratio", "creates", "≥ 9.10", []measurement{server, other}},
		"20.0 MB":          {"median", "memory", "≤ 20.0 MB", []measurement{server}},
		"120.0 ms, missed": {"worst", "longest", "≤ 100.0 ms", []measurement{server}},
		"1.00, missed":     {"all", "bad", "≤ 0.00", nil},
	} {
		if tt.Got(r) != got {
			t.Errorf("%s %s: %s, want %s", tt.Name, tt.Want, tt.Got(r), got)
		}
	}
}

// TestFire checks the figures of a load that pauses for more than two seconds, of which one is complete.
func TestFire(t *testing.T) {
	t.Parallel()
	tools.Require(t, "wrk")
	var bodies sync.Map
	var requests, repeated atomic.Int64
	var all sync.RWMutex // of all handlers
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if _, loaded := bodies.LoadOrStore(string(body), nil); loaded || r.Header.Get("Authorization") != "Bearer token" {
			repeated.Add(1)
		}
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
	h, addr := &harness{script: "create.lua", token: "token"}, strings.TrimPrefix(server.URL, "http://")
	s := h.fire(t.Context(), measurement{order: scattered, Clients: 4}, addr, 0, 4*time.Second)
	if s["lowest"] != 0 || s["longest"] < 2100 || s["bad"] != 1 || s["creates"] == 0 || repeated.Load() > 0 {
		t.Errorf("%v, %d requests repeated or without the token", s, repeated.Load())
	}
	if s := h.fire(t.Context(), measurement{order: ascending, Clients: 4}, addr, 0, 2*time.Second); s["lowest"] != 1 || s["bad"] != 0 {
		t.Errorf("without a pause: %v", s)
	}
}
