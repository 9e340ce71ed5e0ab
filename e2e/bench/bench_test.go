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

func TestVerdict(t *testing.T) {
	t.Parallel()
	server, other := measurement{Name: "server"}, measurement{Name: "other"}
	r := results{
		// In the second round both are disturbed, but the ratio stays.
		"server": {{creates: 900, longest: 90}, {creates: 90, longest: 120}, {creates: 1000, longest: 80}},
		"other":  {{creates: 100}, {creates: 10, bad: 1}, {creates: 125}},
	}
	for _, tt := range []struct {
		target target
		want   string
	}{
		{target{"least", creates, bound{limit: 9}, []measurement{server, other}}, "≥ 9.00, 9.00, "},
		{target{"missed", creates, bound{limit: 9.1}, []measurement{server, other}}, "≥ 9.10, 9.00, missed"},
		{target{"most", longest, bound{limit: 90, most: true, unit: "ms"}, []measurement{server}}, "≤ 90.0 ms, 90.0 ms, "},
		{target{"worst", longest, bound{limit: 100, most: true, worst: true}, []measurement{server}}, "≤ 100.00, 120.00, missed"},
		{target{"all", bad, bound{most: true, worst: true}, nil}, "≤ 0.00, 1.00, missed"},
	} {
		if got := strings.Join([]string{tt.target.Want(), tt.target.Got(r), tt.target.Verdict(r)}, ", "); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.target.Name, got, tt.want)
		}
	}
}

// TestFire checks the figures of a load with a pause of more than two seconds, of which one is
// complete.
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
	s, err := h.fire(t.Context(), measurement{order: ascending, Clients: 4}, addr, 0, 4*time.Second)
	if err != nil || s[lowest] != 0 || s[longest] < 2100 || s[bad] != 1 || s[creates] == 0 {
		t.Errorf("with a pause: %v, %v", s, err)
	}
	s, err = h.fire(t.Context(), measurement{order: scattered, Clients: 4}, addr, 0, 2*time.Second)
	if err != nil || s[lowest] != 1 || s[bad] != 0 || repeated.Load() > 0 {
		t.Errorf("without one: %v, %v, %d requests repeated or without the token", s, err, repeated.Load())
	}
}
