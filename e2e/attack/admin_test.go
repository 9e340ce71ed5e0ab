package attack

import (
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestAdminListenerRefusesPages checks that a page in a browser on the same machine cannot read
// the admin listener under any name, and that a profile has a time limit.
func TestAdminListenerRefusesPages(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"PPROF=on"}})
	get := func(path string, header ...string) plantstore.Reply {
		return must.Get(plantstore.Do(t.Context(), http.DefaultClient, http.MethodGet, server.AdminURL+path, "", header...))(t)
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1"} {
		if r := get(path); r.Status != http.StatusOK {
			t.Errorf("%s: %d %s", path, r.Status, r.Body)
		}
		for _, field := range [][]string{
			{"Host", "evil.example"},
			{"Host", "evil.example:8081"},
			{"Sec-Fetch-Site", "cross-site"},
			{"Sec-Fetch-Site", "same-site"},
			{"Origin", "https://evil.example"},
			{"Origin", "null"},
		} {
			if r := get(path, field...); r.Status != http.StatusBadRequest || r.Code != models.CodeForbidden {
				t.Errorf("%s of %q: %d %.200s", path, field, r.Status, r.Body)
			}
		}
	}
	for _, profile := range []string{"profile", "trace", "heap", "mutex"} {
		if r := get("/debug/pprof/" + profile + "?seconds=100000"); r.Status != http.StatusBadRequest {
			t.Errorf("%s of 100,000 seconds: %d %.200s", profile, r.Status, r.Body)
		}
	}
}

// TestProfilesInPublic checks that there are no profiles on an address that others can reach.
func TestProfilesInPublic(t *testing.T) {
	t.Parallel()
	_, err := plantstore.Try(t, plantstore.Options{Env: []string{"ADMIN_ADDR=:0", "PPROF=on"}})
	if err == nil || !strings.Contains(err.Error(), "give it a loopback address") {
		t.Errorf("PPROF=on starts: %v", err)
	}
}
