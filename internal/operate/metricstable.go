package operate

import (
	"fmt"
	"slices"

	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/storage"
)

// prefix is the start of the names of all metrics of this program.
const prefix = "plantstore_"

// table returns all metrics of this program. docs/watch.md contains it, and a test
// compares the dashboard and the alerts with it.
func table(o *Operator) []metric {
	stored := o.Metrics.Store()
	return slices.Concat(requestMetrics(o), tokenMetrics(o.Metrics.Tokens()), storeMetrics(o, stored), fileMetrics(stored.File))
}

func requestMetrics(o *Operator) []metric {
	connections := o.Metrics.Server()
	return []metric{
		{"build_info", "gauge", "always 1; the label version is the running release", []series{{fmt.Sprintf("{version=%q}", o.Metrics.Version), 1}}},
		{"ready", "gauge", "1 if the server is ready (/readyz), else 0", readiness(o)},
		{
			"requests_total", "counter",
			"responses by outcome (as in the log; unknown counts as failed) and error code, 0 for none",
			responses(o.Metrics.Observer),
		},
		{
			"faults_total", "counter",
			"errors and delays on demand; no other metric counts these requests",
			faults(o.Metrics.Observer),
		},
		{
			"request_duration_seconds", "histogram",
			"time from a request's header to its response, by outcome; excludes requests refused before any handler",
			durations(o.Metrics.Observer),
		},
		{"connections", "gauge", "open connections", one(connections.Open)},
		{"connections_limit", "gauge", "MAX_CONNECTIONS", one(connections.Limit)},
		{"connections_accepted_total", "counter", "accepted connections", one(connections.Accepted)},
		{"connections_turned_away_total", "counter", "accepted connections beyond the limit", one(connections.TurnedAway)},
		{"tls_handshake_timeouts_total", "counter", "TLS handshakes that took too long", one(connections.SlowHandshakes)},
		{
			"certificate_expiry_timestamp_seconds", "gauge",
			"Unix time when the first TLS certificate expires; missing without one",
			moment(o.Metrics.CertificateExpires()),
		},
	}
}

func tokenMetrics(tokens auth.Stats) []metric {
	var fetched, failures, keys []series
	if issuer := tokens.Issuer; issuer != nil {
		fetched, failures, keys = moment(issuer.Fetched), one(issuer.Failures), one(issuer.Keys)
	}
	return []metric{
		{
			"credentials_refused_total", "counter",
			"refused credentials by reason; scope is error 403, no_keys (of the issuer, yet) 503, all others are 401",
			refusals(tokens.Refused[:]),
		},
		{"token_cache_hits_total", "counter", "tokens found in the cache of verified tokens", one(tokens.CacheHits)},
		{"token_cache_misses_total", "counter", "tokens not in the cache, including rejected ones", one(tokens.CacheMisses)},
		{
			"issuer_fetched_timestamp_seconds", "gauge",
			"Unix time of the last successful fetch of the issuer's keys; missing without one",
			fetched,
		},
		{"issuer_keys", "gauge", "usable keys of the issuer; missing without an issuer", keys},
		{"issuer_fetch_failures_total", "counter", "failed fetches of the issuer's keys; missing without an issuer", failures},
	}
}

func readiness(o *Operator) []series {
	problem, _ := o.Problem()
	return flag(problem == "")
}

// responses returns the responses of the handler and those of the server itself.
func responses(o *Observer) (all []series) {
	for _, of := range []string{middleware.Created, middleware.Read} {
		all = append(all, series{fmt.Sprintf(`{outcome=%q,error="0"}`, of), o.durations[of].count()})
	}
	for _, c := range models.Codes() {
		n := o.errors.Count(c.Code)
		all = append(all, series{fmt.Sprintf(`{outcome=%q,error="%v"}`, outcomeOf(c.Code), c.Code), n})
	}
	return all
}

func refusals(counts []uint64) (all []series) {
	for reason, n := range counts {
		all = append(all, series{fmt.Sprintf("{reason=%q}", auth.Reason(reason)), n})
	}
	return all
}

func faults(o *Observer) (all []series) {
	for _, c := range models.Codes() {
		all = append(all, series{fmt.Sprintf(`{fault="%v"}`, c.Code), o.faults.Count(c.Code)})
	}
	return append(all, series{`{fault="delay"}`, o.delays.Load()})
}

func durations(o *Observer) (all []series) {
	for _, of := range outcomes() {
		all = append(all, o.durations[of].series(fmt.Sprintf("outcome=%q", of))...)
	}
	return all
}

func storeMetrics(o *Operator, s storage.Stats) []metric {
	return []metric{
		{"queue_creates", "gauge", "creates waiting for a commit", one(s.QueuedCreates)},
		{"queue_creates_limit", "gauge", "maximum number of waiting creates", one(s.QueueLimit)},
		{"queue_bytes", "gauge", "bytes of waiting names and tags", one(s.QueuedBytes)},
		{"plants_created_total", "counter", "plants stored by this process, including imported ones", one(s.Created)},
		{"resets_total", "counter", "resets to the seed (--ephemeral)", one(s.Resets)},
		{"commit_plants", "histogram", "plants in a commit", o.Metrics.Observer.commitPlants.series()},
		{"commit_duration_seconds", "histogram", "time of a commit, including retries", o.Metrics.Observer.commitDuration.series()},
		{"commit_failures_total", "counter", "commits that failed, including those with an unknown outcome", one(s.FailedCommits)},
		{"store_stopped", "gauge", "1 after a fault, just before the process exits, else 0", flag(s.Stopped)},
		{"store_emptied", "gauge", "1 if the database had no plants at startup although the secret next to it is older than an hour, else 0", flag(o.Metrics.Emptied)},
	}
}

// fileMetrics are about the file of an embedded store, none without one.
func fileMetrics(f *storage.FileStats) []metric {
	if f == nil {
		return nil
	}
	var free []series
	if f.Free >= 0 {
		free = one(f.Free)
	}
	return []metric{
		{"store_plants", "gauge", "plants in the database (bbolt)", one(f.Plants)},
		{"store_size_bytes", "gauge", "size of the database (bbolt)", one(f.Size)},
		{"store_free_bytes", "gauge", "free bytes on the file system of the database (bbolt)", free},
	}
}
