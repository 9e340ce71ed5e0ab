package admin

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

const contentType = "text/plain; version=0.0.4; charset=utf-8" // of Prometheus

// metrics responds with all metrics, including those of the Go runtime and the process.
func (a *admin) metrics(w http.ResponseWriter, _ *http.Request) {
	var text bytes.Buffer
	for _, m := range table(a) {
		m.write(&text)
	}
	metrics.WriteProcessMetrics(&text)
	metrics.WriteFDMetrics(&text)
	write(w, http.StatusOK, contentType, text.Bytes())
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
