package audit

import (
	"testing"
	"time"
)

// The time of a line has six digits after the point, whatever they are.
func TestAppendTime(t *testing.T) {
	t.Parallel()
	for _, now := range []time.Time{
		time.Date(2026, time.November, 21, 9, 8, 7, 0, time.UTC),
		time.Date(2026, time.November, 21, 9, 8, 7, 999, time.UTC),
		time.Date(2026, time.November, 21, 9, 8, 7, 1_000, time.UTC),
		time.Date(2026, time.November, 21, 9, 8, 7, 120_000_000, time.UTC),
		time.Date(1999, time.December, 31, 23, 59, 59, 999_999_999, time.UTC),
	} {
		want := "x" + now.Format("2006-01-02T15:04:05.000000Z")
		if got := string(appendTime([]byte("x"), now)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
