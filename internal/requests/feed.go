package requests

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
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
	mu      sync.Mutex
	ring    []T   // the value with number n is at n modulo the length
	last    int64 // the number of the newest value
	removed int64 // by Clear: values up to that number
}

// NewFeed returns a Feed that keeps size values.
func NewFeed[T any](size int) *Feed[T] { return &Feed[T]{ring: make([]T, size)} }

// Add adds the value for a number.
func (f *Feed[T]) Add(value func(number int64) T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last++
	f.ring[f.last%int64(len(f.ring))] = value(f.last)
}

// Clear removes all values.
func (f *Feed[T]) Clear() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.removed = f.last
	clear(f.ring) // frees their memory
}

// Removed returns the number up to which Clear has removed the values.
func (f *Feed[T]) Removed() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.removed
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
		f.Clear()
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
func (f *Feed[T]) since(number int64) (all []T) {
	f.mu.Lock()
	defer f.mu.Unlock()
	size := int64(len(f.ring))
	for n := max(min(number, f.last), f.removed, f.last-size) + 1; n <= f.last; n++ {
		all = append(all, f.ring[n%size])
	}
	return all
}
