package admin

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// requests returns the nonzero counts of responses, by outcome and error.
func requests(all map[string]float64) map[string]float64 {
	found := make(map[string]float64)
	for _, outcome := range []string{"created", "read", "refused", "failed"} {
		for code := range 600 {
			key := fmt.Sprintf(`plantstore_requests_total{outcome=%q,error="%d"}`, outcome, code)
			if n := all[key]; n > 0 {
				found[fmt.Sprint(outcome, " ", code)] = n
			}
		}
	}
	return found
}

// TestMetricsCountRequests checks that the metrics count exactly the requests that were sent.
func TestMetricsCountRequests(t *testing.T) {
	t.Parallel()
	s := newSite(t, plantstore.Options{})
	const plants, duplicates = 25, 4
	for id := range plants {
		s.create(fmt.Sprintf(`{"id":%d,"name":"Fern"}`, id))
	}
	for id := range duplicates {
		s.create(fmt.Sprintf(`{"id":%d,"name":"Fern"}`, id))
	}
	s.create(`{"id":`)
	s.create(`{"id":"1"}`)
	s.create(`{"id":"2"}`)
	s.request(http.MethodPost, s.BaseURL+"/plants")
	s.Post("no token", `{}`)
	s.request(http.MethodPut, s.BaseURL+"/plants")
	s.Get(s.BaseURL + "/nowhere")
	s.Get(s.BaseURL + "/openapi.json")
	must.Get(plantstore.Dial(t, s.BaseURL).Do("garbage\r\n\r\n"))(t) // it reaches no handler

	all := s.Metrics()
	want := map[string]float64{
		"created 0": plants, "read 0": 1, "refused 409": duplicates, "refused 400": 2, "refused 422": 2,
		"refused 401": 2, "refused 405": 1, "refused 404": 1,
	}
	if diff := cmp.Diff(want, requests(all)); diff != "" {
		t.Errorf("responses (-sent +counted):\n%s", diff)
	}
	for series, want := range map[string]float64{
		`plantstore_request_duration_seconds_count{outcome="created"}`: plants,
		`plantstore_request_duration_seconds_count{outcome="refused"}`: duplicates + 1 + 2 + 2 + 1 + 1,
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
		`plantstore_ready`:                         1,
	} {
		if got, there := all[series]; got != want || !there {
			t.Errorf("%s is %v, want %v", series, got, want)
		}
	}
	if all["plantstore_store_size_bytes"] < 4096 || all["plantstore_store_free_bytes"] < 1<<20 {
		t.Errorf("the file has %v bytes, the file system %v free bytes", all["plantstore_store_size_bytes"], all["plantstore_store_free_bytes"])
	}
	s.Stop()
	again := plantstore.Start(t, plantstore.Options{Dir: s.Dir}).Metrics()
	if again["plantstore_store_plants"] != plants || len(requests(again)) > 0 {
		t.Errorf("after a restart there are %v plants, %v", again["plantstore_store_plants"], requests(again))
	}
}
