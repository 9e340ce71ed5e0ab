package attack

import (
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

// TestAdminListenerRefusesPages checks that a page in a browser on the same machine cannot read
// the admin listener under any name, and that a profile has a time limit.
func TestAdminListenerRefusesPages(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"PPROF=on"}})
	get := func(path, host, name, value string) (status int, body string) {
		request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.AdminURL+path, http.NoBody))(t)
		request.Host = host // the URL's, if it is empty
		if name != "" {
			request.Header.Set(name, value)
		}
		response := must.Get(http.DefaultClient.Do(request))(t)
		r := must.Get(plantstore.Read(response))(t)
		return r.Status, r.Body
	}
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/profile?seconds=1"} {
		if status, body := get(path, "", "", ""); status != http.StatusOK {
			t.Errorf("%s: %d %s", path, status, body)
		}
		for _, field := range [][3]string{
			{"evil.example", "", ""},
			{"evil.example:8081", "", ""},
			{"", "Sec-Fetch-Site", "cross-site"},
			{"", "Sec-Fetch-Site", "same-site"},
			{"", "Origin", "https://evil.example"},
			{"", "Origin", "null"},
		} {
			if status, body := get(path, field[0], field[1], field[2]); status != http.StatusBadRequest || !strings.Contains(body, `"error":403`) {
				t.Errorf("%s of %q: %d %.200s", path, field, status, body)
			}
		}
	}
	for _, profile := range []string{"profile", "trace", "heap", "mutex"} {
		if status, body := get("/debug/pprof/"+profile+"?seconds=100000", "", "", ""); status != http.StatusBadRequest {
			t.Errorf("%s of 100,000 seconds: %d %.200s", profile, status, body)
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
