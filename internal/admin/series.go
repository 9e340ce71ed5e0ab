package admin

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"github.com/VictoriaMetrics/metrics"
)

// series writes the series of one metric.
type series struct {
	text *bytes.Buffer
	name string
}

// value writes one. The labels are alternating names and values.
func (s *series) value(value float64, labels ...string) {
	metrics.WriteGaugeFloat64(s.text, s.name+braced(labels), value)
}

// count is value for a counter.
func (s *series) count(value uint64, labels ...string) {
	metrics.WriteCounterUint64(s.text, s.name+braced(labels), value)
}

// flag writes 1 or 0.
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
