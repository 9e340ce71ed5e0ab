package admin

import (
	"slices"

	"plantstore/models"
)

// prefix is the start of the names of all metrics of this program.
const prefix = "plantstore_"

// table returns all metrics of this program. docs/operations.md contains it, and a test
// compares the dashboard and the alerts with it.
func table() []metric {
	return slices.Concat(requestMetrics(), storeMetrics(), fileMetrics())
}

func requestMetrics() []metric {
	return []metric{
		{"build_info", "gauge", "1; the label version is the running release", func(s *series, now *sample) { s.value(1, "version", now.Version) }},
		{"ready", "gauge", "1 if plants can be created (/readyz), else 0", func(s *series, now *sample) { s.flag(now.ready) }},
		{
			"requests_total", "counter",
			"responses, by outcome (created; read; refused: caused by the request; failed: caused by the server) and the number of the Error, 0 if there is none",
			writeRequests,
		},
		{
			"faults_total", "counter",
			"faults on demand, by the number of the Error, or delay; these requests are in no other metric of requests",
			writeFaults,
		},
		{
			"request_duration_seconds", "histogram",
			"time from the header of a request to its response, by outcome; without requests refused before their header was read",
			func(s *series, now *sample) {
				for _, of := range outcomes() {
					now.Observer.durations[of].write(s, "outcome", string(of))
				}
			},
		},
		{"connections", "gauge", "open connections", func(s *series, now *sample) { s.value(float64(now.server.Open)) }},
		{"connections_limit", "gauge", "maximum number of open connections, MAX_CONNECTIONS", func(s *series, now *sample) { s.value(float64(now.server.Limit)) }},
		{"connections_accepted_total", "counter", "connections that were accepted", func(s *series, now *sample) { s.count(now.server.Accepted) }},
		{
			"connections_turned_away_total", "counter", "accepted connections that were beyond the limit",
			func(s *series, now *sample) { s.count(now.server.TurnedAway) },
		},
		{
			"rate_limited_total", "counter", "requests that exceeded RATE_LIMIT, by the kind of client: address or subject",
			func(s *series, now *sample) {
				address, subject := now.RateLimited()
				s.count(address, "by", "address")
				s.count(subject, "by", "subject")
			},
		},
		{
			"log_lines_lost_total", "counter", "lines of the log that were lost because stderr was not read for two seconds",
			func(s *series, now *sample) { s.count(now.LostLines()) },
		},
		{
			"certificate_expiry_timestamp_seconds", "gauge",
			"when the first certificate for TLS expires, in Unix time; missing if there is none",
			func(s *series, now *sample) { s.moment(now.CertificateExpires()) },
		},
		{"token_cache_hits_total", "counter", "tokens that were found in the cache of verified tokens", func(s *series, now *sample) { s.count(now.tokens.CacheHits) }},
		{"token_cache_misses_total", "counter", "tokens that were not in the cache, and were verified", func(s *series, now *sample) { s.count(now.tokens.CacheMisses) }},
	}
}

// writeRequests writes the responses of the handler and of the server itself.
func writeRequests(s *series, now *sample) {
	for _, of := range []outcome{created, read} {
		s.count(now.Observer.durations[of].count(), "outcome", string(of), "error", "0")
	}
	for _, c := range models.Codes() {
		n := now.Observer.errors.Count(c.Code) + now.server.Refused.Count(c.Code)
		s.count(n, "outcome", string(outcomeOf(c.Code)), "error", c.Code.String())
	}
}

func writeFaults(s *series, now *sample) {
	for _, c := range models.Codes() {
		s.count(now.Observer.faults.Count(c.Code), "fault", c.Code.String())
	}
	s.count(now.Observer.delays.Load(), "fault", "delay")
}

func storeMetrics() []metric {
	return []metric{
		{
			"queue_creates", "gauge", "creates that wait for a commit",
			func(s *series, now *sample) { s.value(float64(now.store.QueuedCreates)) },
		},
		{
			"queue_creates_limit", "gauge", "maximum number of creates that wait",
			func(s *series, now *sample) { s.value(float64(now.store.QueueLimit)) },
		},
		{
			"queue_bytes", "gauge", "bytes of the names and tags that wait for a commit",
			func(s *series, now *sample) { s.value(float64(now.store.QueuedBytes)) },
		},
		{
			"plants_created_total", "counter", "plants that this process has stored, imported ones too",
			func(s *series, now *sample) { s.count(now.store.Created) },
		},
		{
			"resets_total", "counter", "resets to the seed of a server with --ephemeral",
			func(s *series, now *sample) { s.count(now.store.Resets) },
		},
		{
			"commit_plants", "histogram", "plants in a commit",
			func(s *series, now *sample) { now.Observer.commitPlants.write(s) },
		},
		{
			"commit_duration_seconds", "histogram", "time that a commit took, with all attempts",
			func(s *series, now *sample) { now.Observer.commitDuration.write(s) },
		},
		{
			"commit_failures_total", "counter", "commits that failed, including those with an unknown outcome",
			func(s *series, now *sample) { s.count(now.store.FailedCommits) },
		},
		{
			"store_stopped", "gauge", "1 if the store has stopped itself after a fault, else 0; the process ends then",
			func(s *series, now *sample) { s.flag(stopped(now.Store)) },
		},
	}
}

// journalMetrics are about the journal of an embedded store.
func journalMetrics() []metric {
	return onlyIf(func(now *sample) bool { return now.store.File.Journal != nil }, []metric{
		{
			"journal_plants", "gauge", "pending plants: in the journal, and not in the database file yet (bbolt)",
			func(s *series, now *sample) { s.value(float64(now.store.File.Journal.Plants)) },
		},
		{
			"journal_bytes", "gauge", "bytes of the journal in use by pending plants (bbolt)",
			func(s *series, now *sample) { s.value(float64(now.store.File.Journal.Bytes)) },
		},
		{
			"journal_oldest_timestamp_seconds", "gauge", "when the oldest pending plant was stored, in Unix time; missing if there is none (bbolt)",
			func(s *series, now *sample) { s.moment(now.store.File.Journal.Oldest) },
		},
		{
			"journal_checkpoints_total", "counter", "checkpoints, which move plants from the journal to the database file (bbolt)",
			func(s *series, now *sample) { s.count(now.store.File.Journal.Checkpoints) },
		},
		{
			"journal_checkpoint_seconds_total", "counter", "time of checkpoints, with their pauses (bbolt)",
			func(s *series, now *sample) { s.value(now.store.File.Journal.CheckpointTime.Seconds()) },
		},
	})
}

// fileMetrics are about the file of an embedded store.
func fileMetrics() []metric {
	return onlyIf(func(now *sample) bool { return now.store.File != nil }, append([]metric{
		{"store_plants", "gauge", "plants in the database (bbolt)", func(s *series, now *sample) { s.value(float64(now.store.File.Plants)) }},
		{"store_size_bytes", "gauge", "size of the database (bbolt)", func(s *series, now *sample) { s.value(float64(now.store.File.Size)) }},
		{
			"store_free_bytes", "gauge", "bytes that the file system of the database has left (bbolt)",
			func(s *series, now *sample) {
				if free := now.store.File.Free; free >= 0 {
					s.value(float64(free))
				}
			},
		},
		{
			"scrub_records_total", "counter", "records that the scrub has read (bbolt)",
			func(s *series, now *sample) { s.count(now.store.File.Scrub.Records) },
		},
		{
			"scrub_damaged_total", "counter", "corrupt records that the scrub has found, counted again in each pass (bbolt)",
			func(s *series, now *sample) { s.count(now.store.File.Scrub.Corrupt) },
		},
		{
			"scrub_last_pass_damaged", "gauge", "corrupt records in the last complete pass (bbolt)",
			func(s *series, now *sample) { s.count(now.store.File.Scrub.LastCorrupt) },
		},
		{
			"scrub_last_pass_timestamp_seconds", "gauge", "when that pass ended, in Unix time; missing before the first one has (bbolt)",
			func(s *series, now *sample) { s.moment(now.store.File.Scrub.LastPass) },
		},
	}, journalMetrics()...))
}

// onlyIf returns metrics that are written only if a condition holds.
func onlyIf(condition func(now *sample) bool, all []metric) []metric {
	for i, m := range all {
		all[i].write = func(s *series, now *sample) {
			if condition(now) {
				m.write(s, now)
			}
		}
	}
	return all
}
