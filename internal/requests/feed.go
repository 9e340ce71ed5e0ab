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
	// interval is how often a query that waits looks for values, and so gets several at once: a
	// response for each would take more time of the processor than the requests of clients.
	interval = 100 * time.Millisecond
)

// A Feed keeps the last values of a server in memory. They have numbers, from 1 on.
type Feed[T any] struct {
	mu   sync.Mutex
	kept []T   // oldest first
	last int64 // the number of the newest, although it may not be kept
}

// Add adds the value for a number.
func (f *Feed[T]) Add(value func(number int64) T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.kept = append(f.kept, value(f.last))
}

// Keep removes all but the last n values.
func (f *Feed[T]) Keep(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.kept = slices.Delete(f.kept, 0, max(0, len(f.kept)-n))
}

// Query returns the values, oldest first: of ?after=7&wait=10s those with higher numbers, as soon as there
// is one. A DELETE removes all values.
func (f *Feed[T]) Query(r *http.Request) (all []T, failure *models.Error) {
	values, queryErr := url.ParseQuery(r.URL.RawQuery)
	after, afterErr := strconv.ParseInt(cmp.Or(values.Get("after"), "0"), 10, 64)
	wait, waitErr := time.ParseDuration(cmp.Or(values.Get("wait"), "0s"))
	delete(values, "after")
	delete(values, "wait")
	if queryErr != nil || afterErr != nil || waitErr != nil || wait > maxWait || len(values) > 0 {
		return nil, models.Errorf(models.CodeBadRequest,
			"after: must be a number; wait: must be at most %v, such as 10s; there are no other parameters", maxWait)
	}
	if r.Method == http.MethodDelete {
		f.Keep(0)
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	for {
		select {
		case <-time.After(interval):
		case <-ctx.Done():
		}
		if all = f.since(after); len(all) > 0 || ctx.Err() != nil {
			return all, nil
		}
	}
}

// since returns the kept values with higher numbers.
func (f *Feed[T]) since(number int64) []T {
	f.mu.Lock()
	defer f.mu.Unlock()
	newer := max(0, f.last-max(0, number))
	return slices.Clone(f.kept[max(0, int64(len(f.kept))-newer):])
}
