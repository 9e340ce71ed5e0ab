package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"

	"github.com/VictoriaMetrics/metrics"

	"plantstore/internal/auth"
	"plantstore/internal/server"
	"plantstore/storage"
)

// contentType is the media type of the text format of Prometheus.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// A metric is a row of the table of metrics, see [table].
type metric struct {
	name string // without the prefix
	kind string // as Prometheus names it
	help string
	// write writes the series of the metric, if there are any.
	write func(s *series, now *sample)
}

// A sample is the state of all sources at one moment.
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

// MarkdownTable returns the table of metrics in docs/operations.md.
func MarkdownTable() string {
	var b strings.Builder
	b.WriteString("| Metric | Type | Meaning |\n|---|---|---|\n")
	for _, m := range table() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", prefix+m.name, m.kind, m.help)
	}
	return b.String()
}
