package operate

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

const (
	// maxCreates is the number of creates that are kept.
	maxCreates = 100
	// maxWait is the longest time for which a query waits for a create.
	maxWait = time.Minute
)

// Creates keeps the last creates of a server in memory: not the plants, which the store has.
type Creates struct {
	mu      sync.Mutex
	kept    [maxCreates]create // that with the number n at n % maxCreates
	cleared int64              // the last number at Clear
	last    int64              // number, from 1 on
	added   chan struct{}      // closed, and removed, when a create is added; nil if nothing waits
}

type create struct {
	at      time.Time
	id      int64
	subject string
}

// Add adds creates of a subject, "" for an import.
func (c *Creates) Add(subject string, ids ...int64) {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		c.last++
		c.kept[c.last%maxCreates] = create{now, id, subject}
	}
	if c.added != nil && len(ids) > 0 {
		close(c.added)
		c.added = nil
	}
}

// Clear forgets all creates, after a reset.
func (c *Creates) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cleared = c.last
}

// since returns the kept creates with higher numbers than after, and the number of the first. It waits
// for one until ctx ends. A number that no create has had, such as that of an earlier server, counts as 0.
func (c *Creates) since(ctx context.Context, after int64) (first int64, all []create) {
	for {
		c.mu.Lock()
		if after > c.last {
			after = 0
		}
		first, all = max(after, c.cleared, c.last-maxCreates)+1, nil
		for n := first; n <= c.last; n++ {
			all = append(all, c.kept[n%maxCreates])
		}
		if c.added == nil {
			c.added = make(chan struct{})
		}
		added := c.added
		c.mu.Unlock()
		if len(all) > 0 || ctx.Err() != nil {
			return first, all
		}
		select {
		case <-added:
		case <-ctx.Done():
		}
	}
}

// A shownCreate is a create as the page shows it.
type shownCreate struct {
	Number  int64     `json:"number"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject,omitzero"`
	Plant   plant     `json:"plant"`
}

// pageCreates responds with the last creates, oldest first: of ?after=7&wait=10s those with higher numbers,
// as soon as there is one.
func (o *Operator) pageCreates(w *response, r *http.Request) error {
	query := r.URL.Query()
	after, afterErr := strconv.ParseInt(cmp.Or(query.Get("after"), "0"), 10, 64)
	wait, waitErr := time.ParseDuration(cmp.Or(query.Get("wait"), "0s"))
	switch {
	case o.Creates == nil:
		return models.NewError(models.CodeForbidden, "only a running server keeps its last creates")
	case afterErr != nil || waitErr != nil || wait > maxWait:
		return models.Errorf(models.CodeBadRequest, "after: must be a number; wait: must be at most %v, such as 10s", maxWait)
	}
	ctx, cancel := context.WithTimeout(r.Context(), wait)
	defer cancel()
	first, all := o.Creates.since(ctx, after)
	w.sendLines()
	for i, c := range all {
		stored, err := o.Store.Get(r.Context(), c.id)
		if errors.Is(err, storage.ErrNotFound) { // a reset came between
			continue
		}
		if err != nil {
			return err
		}
		if err := w.send(shownCreate{first + int64(i), c.at, c.subject, show(storage.Record{ID: c.id, Plant: stored})}); err != nil {
			return err
		}
	}
	return nil
}
