package attack

import (
	"net/http"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestAdminListenerRefusesPages checks that a page in a browser on the same machine cannot read
// the admin listener under any name.
func TestAdminListenerRefusesPages(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"PPROF=on"}})
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/debug/pprof/", "/debug/pprof/heap"} {
		if r := server.Get(server.AdminURL + path); r.Status != http.StatusOK {
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
			r := must.Get(plantstore.Do(t.Context(), http.DefaultClient, http.MethodGet, server.AdminURL+path, "", field...))(t)
			if r.Status != http.StatusBadRequest || r.Code != models.CodeForbidden {
				t.Errorf("%s of %q: %d %.200s", path, field, r.Status, r.Body)
			}
		}
	}
}
