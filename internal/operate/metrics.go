package operate

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"plantstore/internal/server"
	"plantstore/middleware/auth"
	"plantstore/storage"
)

const (
	// prefix is the start of the names of all metrics of this program.
	prefix      = "plantstore_"
	contentType = "text/plain; version=0.0.4; charset=utf-8" // of Prometheus
)

// Metrics are the sources of the metrics.
type Metrics struct {
	Version  string
	Observer *Observer
	Store    func() storage.Stats
	Server   func() server.Stats
	Tokens   func() auth.Stats
	// CertificateExpires returns the earliest expiry of the certificates in use for TLS, zero if
	// there are none.
	CertificateExpires func() time.Time
	// Emptied reports that the store had no plants at startup, although its secret is older.
	Emptied bool
}

// metrics responds with all metrics, including those of the Go runtime and the process.
func (o *Operator) metrics(w *response, _ *http.Request) error {
	var text bytes.Buffer
	for _, m := range o.table() {
		if len(m.series) > 0 {
			fmt.Fprintf(&text, "# HELP %s%s %s\n# TYPE %[1]s%[2]s %[4]s\n", prefix, m.name, m.help, m.kind())
		}
		for _, s := range m.series {
			fmt.Fprintf(&text, "%s%s%s %v\n", prefix, m.name, s.suffix, s.value)
		}
	}
	metrics.WriteProcessMetrics(&text)
	metrics.WriteFDMetrics(&text)
	w.Header().Set("Content-Type", contentType)
	_, err := w.Write(text.Bytes())
	return err
}

// A metric is a row of the table of metrics.
type metric struct {
	name, help string   // the name lacks the prefix
	series     []series // none: the metric is missing
}

// A series is one number of a metric.
type series struct {
	suffix string // of the name: the part of a histogram, and labels
	value  any    // a number
}

// kind returns the type of the metric as Prometheus names it.
func (m metric) kind() string {
	switch {
	case strings.HasSuffix(m.name, "_total"):
		return "counter"
	case len(m.series) > 1 && strings.HasPrefix(m.series[0].suffix, "_bucket"):
		return "histogram"
	}
	return "gauge"
}

// one returns the series of a number.
func one(number any, labels ...string) []series { return []series{{braced(labels), number}} }

func onOff(on bool) []series {
	if on {
		return one(1)
	}
	return one(0)
}

// moment returns the series of a time, none if it is zero.
func moment(at time.Time) []series {
	if at.IsZero() {
		return nil
	}
	return one(float64(at.UnixMilli()) / 1000)
}

// braced returns names and values of labels in the text format.
func braced(labels []string) string {
	var all []string
	for label := range slices.Chunk(labels, 2) {
		all = append(all, fmt.Sprintf("%s=%q", label[0], label[1]))
	}
	if all == nil {
		return ""
	}
	return "{" + strings.Join(all, ",") + "}"
}

// table returns all metrics of this program. docs/watch.md contains it, and a test
// compares the dashboard and the alerts with it.
func (o *Operator) table() []metric {
	observer, stored, tokens, connections := o.Metrics.Observer, o.Metrics.Store(), o.Metrics.Tokens(), o.Metrics.Server()
	problem, _ := o.Problem()
	all := []metric{
		{"build_info", "always 1; the label version is the running release", one(1, "version", o.Metrics.Version)},
		{"ready", "1 if the server is ready (/readyz), else 0", onOff(problem == "")},
		{
			"requests_total",
			"responses by outcome (as in the log; unknown counts as failed) and error code, 0 for none", observer.responses(),
		},
		{"faults_total", "errors and delays on demand; no other metric counts these requests", observer.onDemand()},
		{
			"request_duration_seconds",
			"time from a request's header to its response, by outcome; excludes requests refused before any handler", observer.requestDurations(),
		},
		{"connections", "open connections", one(connections.Open)},
		{"connections_limit", "MAX_CONNECTIONS", one(connections.Limit)},
		{"connections_accepted_total", "accepted connections", one(connections.Accepted)},
		{"connections_turned_away_total", "accepted connections beyond the limit", one(connections.TurnedAway)},
		{"tls_handshake_timeouts_total", "TLS handshakes that took too long", one(connections.SlowHandshakes)},
		{
			"certificate_expiry_timestamp_seconds",
			"Unix time when the first TLS certificate expires; missing without one", moment(o.Metrics.CertificateExpires()),
		},
		{
			"credentials_refused_total",
			"refused credentials by reason; scope is error 403, no_keys (of the issuer, yet) 503, all others are 401", refusals(tokens),
		},
		{"token_cache_hits_total", "tokens found in the cache of verified tokens", one(tokens.CacheHits)},
		{"token_cache_misses_total", "tokens not in the cache, including rejected ones", one(tokens.CacheMisses)},
	}
	if issuer := tokens.Issuer; issuer != nil {
		all = append(all,
			metric{
				"issuer_fetched_timestamp_seconds",
				"Unix time of the last successful fetch of the issuer's keys; missing without one", moment(issuer.Fetched),
			},
			metric{"issuer_keys", "usable keys of the issuer; missing without an issuer", one(issuer.Keys)},
			metric{"issuer_fetch_failures_total", "failed fetches of the issuer's keys; missing without an issuer", one(issuer.Failures)},
		)
	}
	all = append(all,
		metric{"queue_creates", "creates waiting for a commit", one(stored.QueuedCreates)},
		metric{"queue_creates_limit", "maximum number of waiting creates", one(stored.QueueLimit)},
		metric{"queue_bytes", "bytes of waiting names and tags", one(stored.QueuedBytes)},
		metric{"plants_created_total", "plants stored by this process, including imported ones", one(stored.Created)},
		metric{"resets_total", "resets to the seed (--ephemeral)", one(stored.Resets)},
		metric{"commit_plants", "plants in a commit", observer.commitPlants.series()},
		metric{"commit_duration_seconds", "time of a commit, including retries", observer.commitDuration.series()},
		metric{"commit_failures_total", "commits that failed, including those with an unknown outcome", one(stored.FailedCommits)},
		metric{"store_stopped", "1 after a fault, just before the process exits, else 0", onOff(stored.Stopped)},
		metric{
			"store_emptied",
			"1 if the database had no plants at startup although the secret next to it is older than an hour, else 0", onOff(o.Metrics.Emptied),
		},
	)
	if file := stored.File; file != nil {
		all = append(all,
			metric{"store_plants", "plants in the database (bbolt)", one(file.Plants)},
			metric{"store_size_bytes", "size of the database (bbolt)", one(file.Size)},
		)
		if file.Free >= 0 {
			all = append(all, metric{"store_free_bytes", "free bytes on the file system of the database (bbolt)", one(file.Free)})
		}
	}
	return all
}

func refusals(tokens auth.Stats) (all []series) {
	for reason, n := range tokens.Refused {
		all = append(all, one(n, "reason", fmt.Sprint(auth.Reason(reason)))...)
	}
	return all
}
