package requests

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	"plantstore/models"
)

const (
	// maxWait is the longest time for which a query waits for a value.
	maxWait = time.Minute
	// gather is the time in which a query that waits gets more than one value: many followers of many
	// requests would take more time of the processor than the requests.
	gather = 100 * time.Millisecond
)

// A Feed keeps the last values of a server in memory. They have numbers, from 1 on.
type Feed[T any] struct {
	mu    sync.Mutex
	kept  []T           // oldest first
	last  int64         // the number of the newest, although it may not be kept
	added chan struct{} // closed, and removed, when a value is added; nil if nothing waits
}

// Add adds values.
func (f *Feed[T]) Add(values ...T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last += int64(len(values))
	f.kept = append(f.kept, values...)
	if f.added != nil && len(values) > 0 {
		close(f.added)
		f.added = nil
	}
}

// Keep removes all but the last n values.
func (f *Feed[T]) Keep(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = slices.Delete(f.kept, 0, max(0, len(f.kept)-n))
}

// Query returns the values, oldest first, and the number of the first one: of ?after=7&wait=10s those with
// higher numbers, as soon as there is one. A DELETE removes all values.
func (f *Feed[T]) Query(r *http.Request) (first int64, all []T, failure *models.Error) {
	values, queryErr := url.ParseQuery(r.URL.RawQuery)
	after, afterErr := strconv.ParseInt(cmp.Or(values.Get("after"), "0"), 10, 64)
	wait, waitErr := time.ParseDuration(cmp.Or(values.Get("wait"), "0s"))
	delete(values, "after")
	delete(values, "wait")
	if queryErr != nil || afterErr != nil || waitErr != nil || wait > maxWait || len(values) > 0 {
		return 0, nil, models.Errorf(models.CodeBadRequest,
			"after: must be a number; wait: must be at most %v, such as 10s; there are no other parameters", maxWait)
	}
	if r.Method == http.MethodDelete {
		f.Keep(0)
		return 0, nil, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	first, all, added := f.since(after)
	for len(all) == 0 && ctx.Err() == nil {
		select {
		case <-added:
		case <-ctx.Done():
		}
		first, all, added = f.since(after)
	}
	if wait > 0 {
		select {
		case <-time.After(gather):
		case <-ctx.Done():
		}
		first, all, _ = f.since(after)
	}
	return first, all, nil
}

// since returns the kept values with higher numbers, and a channel that is closed when one is added.
func (f *Feed[T]) since(number int64) (first int64, all []T, added <-chan struct{}) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.added = cmp.Or(f.added, make(chan struct{}))
	before := f.last - int64(len(f.kept))
	skipped := min(max(0, number-before), int64(len(f.kept)))
	return before + skipped + 1, slices.Clone(f.kept[skipped:]), f.added
}
