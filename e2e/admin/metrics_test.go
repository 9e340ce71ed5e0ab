package admin

import (
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestMetricsCountRequests checks that the metrics count exactly the requests that were sent, and that
// the listener for clients has none of the paths for administrators.
func TestMetricsCountRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	const plants, duplicates = 25, 4
	for n := range plants + duplicates {
		s.Post(s.token, fmt.Sprintf(`{"id":%d,"name":"Fern"}`, n%plants))
	}
	for _, body := range []string{`{"id":`, `{"id":"1"}`, `{"id":"2"}`} {
		s.Post(s.token, body)
	}
	for _, method := range []string{http.MethodPost, http.MethodPut} {
		must.Get(plantstore.Do(t.Context(), http.DefaultClient, method, s.BaseURL+"/plants", ""))(t)
	}
	s.Post("no token", `{}`)
	for _, path := range []string{"/livez", "/readyz", "/metrics", "/openapi.json"} {
		s.Get(s.BaseURL + path)
	}
	must.Get(plantstore.Dial(t, s.BaseURL).Do("garbage\r\n\r\n"))(t) // it reaches no handler

	requests := func(outcome string, code int) string {
		return fmt.Sprintf(`plantstore_requests_total{outcome=%q,error="%d"}`, outcome, code)
	}
	want := map[string]float64{
		requests("created", 0): plants, requests("read", 0): 1, requests("refused", 409): duplicates, requests("refused", 400): 2,
		requests("refused", 422): 2, requests("refused", 401): 2, requests("refused", 405): 1, requests("refused", 404): 3,
		`plantstore_request_duration_seconds_count{outcome="created"}`: plants,
		`plantstore_request_duration_seconds_count{outcome="refused"}`: duplicates + 1 + 2 + 2 + 1 + 3,
		`plantstore_plants_created_total`:                              plants,
		`plantstore_store_plants`:                                      plants,
		`plantstore_commit_plants_sum`:                                 plants + duplicates,
		`plantstore_commit_plants_count`:                               plants + duplicates,
		`plantstore_commit_failures_total`:                             0,
		// The first use of the valid token and the invalid token are verified.
		`plantstore_token_cache_misses_total`:      2,
		`plantstore_token_cache_hits_total`:        plants + duplicates + 3 - 1,
		`plantstore_connections_turned_away_total`: 0,
		`plantstore_queue_creates`:                 0,
		`plantstore_store_stopped`:                 0,
		`plantstore_ready`:                         1,
	}
	all := s.Metrics()
	if all["plantstore_store_size_bytes"] < 4096 || all["plantstore_store_free_bytes"] < 1<<20 {
		t.Errorf("the file has %v bytes, the file system %v free bytes", all["plantstore_store_size_bytes"], all["plantstore_store_free_bytes"])
	}
	check := func(all map[string]float64) {
		t.Helper()
		maps.DeleteFunc(all, func(series string, n float64) bool {
			_, listed := want[series]
			return !listed && (n == 0 || !strings.HasPrefix(series, "plantstore_requests_total"))
		})
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("(-sent +counted):\n%s", diff)
		}
	}
	check(all)
	s.Stop()
	again := plantstore.Start(t, plantstore.Options{Dir: s.Dir})
	for series := range want {
		want[series] = 0
	}
	want["plantstore_store_plants"], want["plantstore_ready"] = plants, 1
	check(again.Metrics())
}

// TestDatabaseGone checks that a server warns, by log and metric, if its database has no plants although
// the secret next to it is old, and not after a setup.
func TestDatabaseGone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, old := filepath.Join(dir, "data"), time.Now().Add(-2*time.Hour)
	check := func(want float64, plant string) {
		t.Helper()
		s := plantstore.Start(t, plantstore.Options{Dir: dir})
		s.Post(s.Token(), plant)
		if got := s.Metrics()["plantstore_store_emptied"]; got != want {
			t.Errorf("plantstore_store_emptied is %v, want %v", got, want)
		}
		s.Stop()
		if warns := strings.Contains(s.Log(), "0 plants, although the secret is older"); warns != (want == 1) {
			t.Errorf("warns: %t, want %v\n%s", warns, want, s.Log())
		}
	}
	plantstore.Run(t, dir, "token")
	check(0, `not a plant`)
	check(0, `{"id":1,"name":"Fern"}`)
	must.Do(t, os.Chtimes(filepath.Join(data, "jwt-secret"), old, old))
	check(0, `{"id":2,"name":"Fern"}`)
	must.Do(t, os.Rename(filepath.Join(data, "plants.db"), filepath.Join(dir, "elsewhere.db")))
	check(1, `not a plant`)
	check(1, `{"id":1,"name":"Fern"}`)
	check(0, `{"id":2,"name":"Fern"}`)
}
