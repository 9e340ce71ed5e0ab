package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"plantstore/internal/auth"
	"plantstore/internal/server"
	"plantstore/storage"
)

const contentType = "text/plain; version=0.0.4; charset=utf-8" // of Prometheus

// A metric is a row of the table of metrics, see [table].
type metric struct {
	name string // without the prefix
	kind string // as Prometheus names it
	help string
	// write writes the series of the metric, if there are any.
	write func(s *series, now *sample)
}

// A sample is the state of all sources at one time.
type sample struct {
	*admin

	ready  bool
	store  storage.Stats
	server server.Stats
	tokens auth.Stats
}

// metrics responds with all metrics, including those of the Go runtime and the process.
func (a *admin) metrics(w http.ResponseWriter, _ *http.Request) {
	now := &sample{admin: a, ready: len(a.problems()) == 0, store: a.Store.Stats(), server: a.Server(), tokens: a.Tokens()}
	var text bytes.Buffer
	for _, m := range table() {
		s := &series{text: new(bytes.Buffer), name: prefix + m.name}
		if m.write(s, now); s.text.Len() > 0 {
			fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %[1]s %[3]s\n%[4]s", s.name, m.help, m.kind, s.text)
		}
	}
	metrics.WriteProcessMetrics(&text)
	metrics.WriteFDMetrics(&text)
	write(w, http.StatusOK, contentType, text.Bytes())
}

// series writes the series of one metric.
type series struct {
	text *bytes.Buffer
	name string
}

// value writes one sample. The labels are alternating names and values.
func (s *series) value(value float64, labels ...string) {
	metrics.WriteGaugeFloat64(s.text, s.name+braced(labels), value)
}

// count is value for a counter.
func (s *series) count(value uint64, labels ...string) {
	metrics.WriteCounterUint64(s.text, s.name+braced(labels), value)
}

func (s *series) flag(on bool) {
	if on {
		s.count(1)
		return
	}
	s.count(0)
}

// moment writes a time, unless it is zero.
func (s *series) moment(at time.Time) {
	if !at.IsZero() {
		s.value(float64(at.UnixMilli()) / 1000)
	}
}

// braced returns labels in the text format.
func braced(labels []string) string {
	var pairs []string
	for i := 0; i+1 < len(labels); i += 2 {
		pairs = append(pairs, fmt.Sprintf("%s=%q", labels[i], labels[i+1]))
	}
	if len(pairs) == 0 {
		return ""
	}
	return "{" + strings.Join(pairs, ",") + "}"
}
