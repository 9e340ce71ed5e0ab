package operate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// TestCreates checks which of the last creates follow a number: of the last hundred those with higher
// numbers, and none from before a reset.
func TestCreates(t *testing.T) {
	t.Parallel()
	c := NewCreates()
	for id := range int64(250) {
		c.Add("", id+1) // as its number
	}
	check := func(after, first, last int64) {
		t.Helper()
		all, _ := c.feed.Query(httptest.NewRequestWithContext(t.Context(), http.MethodGet, fmt.Sprint("/?after=", after), http.NoBody))
		if int64(len(all)) != last-first+1 || len(all) > 0 && (all[0].Number != first || all[0].Plant.ID != first || all[len(all)-1].Plant.ID != last) {
			t.Errorf("after %d: %v, want %d to %d", after, all, first, last)
		}
	}
	check(0, 151, 250)
	check(200, 201, 250)
	check(250, 251, 250)
	check(999, 251, 250)
	c.Clear()
	check(200, 251, 250)
	c.Add("", 251)
	check(0, 251, 251)
}
