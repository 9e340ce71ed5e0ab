package operate

import (
	"errors"
	"net/http"
	"time"

	"plantstore/internal/requests"
	"plantstore/models"
	"plantstore/storage"
)

// maxCreates is the number of creates that are kept.
const maxCreates = 100

// Creates keeps the last creates of a server in memory: not the plants, which the store has.
type Creates struct{ feed *requests.Feed[create] }

// NewCreates returns empty Creates.
func NewCreates() *Creates { return &Creates{requests.NewFeed[create](maxCreates)} }

// A create is one as the page shows it. What is kept of its plant is only the id.
type create struct {
	Number  int64     `json:"number"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject,omitzero"`
	Plant   plant     `json:"plant"`
}

// Add adds a create of a subject, "" for an import.
func (c *Creates) Add(subject string, id int64) {
	now := time.Now()
	c.feed.Add(func(number int64) create { return create{number, now, subject, plant{ID: id}} })
}

// Clear removes all creates, after a reset.
func (c *Creates) Clear() { c.feed.Clear() }

// pageCreates responds with the last creates, see [requests.Feed.Query].
func (o *Operator) pageCreates(w *response, r *http.Request) error {
	if o.Creates == nil {
		return models.NewError(models.CodeForbidden, "only a running server keeps its last creates")
	}
	all, failure := o.Creates.feed.Query(r)
	if failure != nil {
		return failure
	}
	w.sendLines()
	for _, c := range all {
		stored, err := o.Store.Get(r.Context(), c.Plant.ID)
		if errors.Is(err, storage.ErrNotFound) { // a reset came between
			continue
		}
		if err != nil {
			return err
		}
		c.Plant = show(storage.Record{ID: c.Plant.ID, Plant: stored})
		if err := w.send(c); err != nil {
			return err
		}
	}
	return nil
}
