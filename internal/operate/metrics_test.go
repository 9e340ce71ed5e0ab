package operate

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
)

// markdownTable returns the table of metrics in docs/watch.md.
func markdownTable() string {
	var b strings.Builder
	b.WriteString("| Metric | Meaning |\n|---|---|\n")
	for _, m := range newOperator(newStore()).table() {
		if m.kind() == "histogram" {
			m.help += " (histogram)"
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", prefix+m.name, m.help)
	}
	return b.String()
}

// TestGeneratedTable checks that docs/watch.md contains the table of metrics.
func TestGeneratedTable(t *testing.T) {
	t.Parallel()
	must.GeneratePart(t, "../../docs/watch.md", "metrics", markdownTable())
}

// TestMetrics checks that every value appears under its name.
func TestMetrics(t *testing.T) {
	t.Parallel()
	s := newStore()
	s.stats.QueuedCreates, s.stats.QueuedBytes, s.stats.QueueLimit = 11, 12, 13
	s.stats.Created, s.stats.FailedCommits, s.stats.Resets = 14, 15, 16
	s.stats.Stopped, s.problem = true, "stopped"
	observer := NewObserver()
	request := new(http.Request)
	for _, o := range []middleware.Outcome{
		{Name: middleware.Created, Request: request, Took: 3 * time.Millisecond},
		{Name: middleware.Refused, Request: request, Took: time.Second, Error: models.NewError(409, "taken")},
		{Name: middleware.Unknown, Request: request, Took: time.Second, Error: models.NewError(500, "perhaps")},
		{Name: middleware.Refused, Error: models.NewError(409, "taken")},
		{Name: middleware.Refused, Error: models.NewError(431, "too large")},
		{Name: middleware.Fault, Request: request, Error: models.NewError(503, "on demand")},
		{Name: middleware.Fault, Error: models.NewError(503, "on demand"), Delayed: time.Second},
		{Name: middleware.Created, Request: request, Delayed: time.Second},
	} {
		observer.Request(&o)
	}
	observer.Commit(1, 30*time.Millisecond)
	observer.Commit(5, 20*time.Second)
	h := newHandler(s, func(o *Operator) {
		o.Metrics.Observer = observer
		o.Metrics.Server = func() server.Stats {
			return server.Stats{Open: 31, Limit: 32, Accepted: 33, TurnedAway: 34, SlowHandshakes: 35}
		}
		o.Metrics.Tokens = func() auth.Stats {
			return auth.Stats{
				CacheHits: 41, CacheMisses: 42, Refused: [...]uint64{50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60},
				Issuer: &auth.IssuerStats{Fetched: time.UnixMilli(1_700_000_000_000), Keys: 43, Failures: 44},
			}
		}
	})
	text := send(t, h, http.MethodGet, "/metrics").Body.String()
	for _, line := range []string{
		`plantstore_build_info{version="v1.2.3"} 1`,
		`plantstore_ready 0`, `plantstore_requests_total{outcome="created",error="0"} 1`,
		`plantstore_requests_total{outcome="read",error="0"} 0`,
		`plantstore_requests_total{outcome="refused",error="409"} 2`,
		`plantstore_requests_total{outcome="refused",error="431"} 1`,
		`plantstore_requests_total{outcome="failed",error="507"} 0`,
		`plantstore_requests_total{outcome="failed",error="500"} 1`,
		`plantstore_request_duration_seconds_count{outcome="failed"} 1`,
		`plantstore_request_duration_seconds_bucket{outcome="created",le="0.002"} 0`, `plantstore_request_duration_seconds_bucket{outcome="created",le="0.005"} 1`,
		`plantstore_request_duration_seconds_bucket{outcome="created",le="+Inf"} 1`, `plantstore_request_duration_seconds_sum{outcome="created"} 0.003`,
		`plantstore_request_duration_seconds_count{outcome="refused"} 1`,
		`plantstore_connections 31`, `plantstore_connections_limit 32`,
		`plantstore_connections_accepted_total 33`, `plantstore_connections_turned_away_total 34`, `plantstore_tls_handshake_timeouts_total 35`,
		`plantstore_certificate_expiry_timestamp_seconds 1.8e+09`,
		`plantstore_issuer_fetched_timestamp_seconds 1.7e+09`, `plantstore_issuer_keys 43`, `plantstore_issuer_fetch_failures_total 44`,
		`plantstore_token_cache_hits_total 41`, `plantstore_token_cache_misses_total 42`,
		`plantstore_queue_creates 11`, `plantstore_queue_bytes 12`, `plantstore_queue_creates_limit 13`,
		`plantstore_requests_total{outcome="failed",error="503"} 0`,
		`plantstore_credentials_refused_total{reason="missing"} 50`, `plantstore_credentials_refused_total{reason="malformed"} 51`,
		`plantstore_credentials_refused_total{reason="expired"} 52`, `plantstore_credentials_refused_total{reason="not_yet_valid"} 53`,
		`plantstore_credentials_refused_total{reason="no_expiry"} 54`, `plantstore_credentials_refused_total{reason="unknown_key"} 55`,
		`plantstore_credentials_refused_total{reason="signature"} 56`, `plantstore_credentials_refused_total{reason="issuer"} 57`,
		`plantstore_credentials_refused_total{reason="audience"} 58`, `plantstore_credentials_refused_total{reason="scope"} 59`,
		`plantstore_faults_total{fault="503"} 2`, `plantstore_faults_total{fault="delay"} 2`,
		`plantstore_resets_total 16`, `plantstore_plants_created_total 14`, `plantstore_commit_failures_total 15`,
		`plantstore_commit_plants_bucket{le="2"} 1`, `plantstore_commit_plants_bucket{le="5"} 2`,
		`plantstore_commit_plants_bucket{le="10000"} 2`, `plantstore_commit_plants_bucket{le="+Inf"} 2`,
		`plantstore_commit_plants_sum 6`, `plantstore_commit_plants_count 2`,
		`plantstore_commit_duration_seconds_bucket{le="0.05"} 1`, `plantstore_commit_duration_seconds_bucket{le="10"} 1`,
		`plantstore_commit_duration_seconds_bucket{le="+Inf"} 2`, `plantstore_commit_duration_seconds_sum 20.03`,
		`plantstore_store_stopped 1`, `plantstore_store_plants 7`, `plantstore_store_size_bytes 4096`,
		`# TYPE plantstore_commit_plants histogram`,
	} {
		if !strings.Contains(text, "\n"+line+"\n") {
			t.Errorf("the metrics lack the line %s", line)
		}
	}
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "process_open_fds"} {
		if !strings.Contains(text, "\n"+name+" ") {
			t.Errorf("the metrics lack %s", name)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestEachSeriesIsOnce checks that no series comes twice, which Prometheus refuses.
func TestEachSeriesIsOnce(t *testing.T) {
	t.Parallel()
	seen := make(map[string]bool)
	for line := range strings.Lines(send(t, newHandler(newStore()), http.MethodGet, "/metrics").Body.String()) {
		series, _, _ := strings.Cut(line, " ")
		if series != "#" && seen[series] {
			t.Errorf("%s comes twice", series)
		}
		seen[series] = true
	}
}

// TestMetricsThatAreAbsent checks that a server without a certificate, an issuer or a file has no
// metrics of one; and that one whose issuer has never responded has no time of a fetch.
func TestMetricsThatAreAbsent(t *testing.T) {
	t.Parallel()
	found := func(s *store, issuer *auth.IssuerStats) string {
		h := newHandler(s, func(o *Operator) {
			o.Metrics.CertificateExpires = func() time.Time { return time.Time{} }
			o.Metrics.Tokens = func() auth.Stats { return auth.Stats{Issuer: issuer} }
		})
		text := send(t, h, http.MethodGet, "/metrics").Body.String()
		return strings.Join(regexp.MustCompile(`(?m)^plantstore_(?:certificate|issuer|store_plants|store_free).*`).FindAllString(text, -1), " ")
	}
	s := newStore()
	const noTime = "plantstore_issuer_keys 0 plantstore_issuer_fetch_failures_total 1 "
	if got := found(s, &auth.IssuerStats{Failures: 1}); !strings.HasPrefix(got, noTime) {
		t.Errorf("with an issuer: %s, want %s first", got, noTime)
	}
	s.stats.File.Free = -1
	if got := found(s, nil); got != "plantstore_store_plants 7" {
		t.Errorf("with an unknown free space: %s", got)
	}
	s.stats.File = nil
	if got := found(s, nil); got != "" {
		t.Errorf("there are %s", got)
	}
}

// TestAllocations checks that what observes a create does not allocate.
//
//nolint:paralleltest // others allocate
func TestAllocations(t *testing.T) {
	observer, creates := NewObserver(), NewCreates()
	refused := &middleware.Outcome{Request: new(http.Request), Error: models.NewError(409, "taken"), Took: time.Millisecond}
	if n := testing.AllocsPerRun(100, func() { observer.Request(refused); creates.Add("somebody", 7) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
