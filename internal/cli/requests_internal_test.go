package cli

import (
	"testing"
	"time"
)

// TestPosition checks that a follower of requests continues after the last one that it has seen, but from the
// first one on after a restart of the server.
func TestPosition(t *testing.T) {
	var p position
	for _, step := range []struct {
		server int64 // when it started
		want   string
		seen   int64
	}{
		{1, "after=0&wait=0s", 7}, {1, "after=7&wait=30s", 8}, {1, "after=8&wait=30s", 8}, {2, "after=0&wait=30s", 3}, {2, "after=3&wait=30s", 3},
	} {
		if got := p.query(time.Unix(step.server, 0).UTC()); got != step.want {
			t.Errorf("%d: %s, want %s", step.server, got, step.want)
		}
		p.number = step.seen
	}
}
