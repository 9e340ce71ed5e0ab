package operate

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"

	"plantstore/internal/server"
	"plantstore/middleware/auth"
	"plantstore/storage"
)

const contentType = "text/plain; version=0.0.4; charset=utf-8" // of Prometheus

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
	for _, m := range table(o) {
		m.write(&text)
	}
	metrics.WriteProcessMetrics(&text)
	metrics.WriteFDMetrics(&text)
	w.Header().Set("Content-Type", contentType)
	_, err := w.Write(text.Bytes())
	return err
}

// A metric is a row of the table of metrics, see [table].
type metric struct {
	name   string // without the prefix
	kind   string // as Prometheus names it
	help   string
	series []series // none: the metric is missing
}

// A series is one number of a metric.
type series struct {
	suffix string // of the name: the part of a histogram, and labels
	value  any    // a number
}

// one returns the series of a metric without labels.
func one(number any) []series { return []series{{value: number}} }

func flag(on bool) []series {
	if on {
		return one(1)
	}
	return one(0)
}

// moment returns a time, nothing if it is zero.
func moment(at time.Time) []series {
	if at.IsZero() {
		return nil
	}
	return one(float64(at.UnixMilli()) / 1000)
}

func (m metric) write(text *bytes.Buffer) {
	if len(m.series) == 0 {
		return
	}
	name := prefix + m.name
	fmt.Fprintf(text, "# HELP %s %s\n# TYPE %[1]s %[3]s\n", name, m.help, m.kind)
	for _, s := range m.series {
		fmt.Fprintf(text, "%s%s %v\n", name, s.suffix, s.value)
	}
}

// braced returns labels, such as outcome="created", in the text format.
func braced(labels ...string) string {
	if len(labels) == 0 {
		return ""
	}
	return "{" + strings.Join(labels, ",") + "}"
}
