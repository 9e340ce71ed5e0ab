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
type Creates struct{ feed requests.Feed[create] }

type create struct {
	at      time.Time
	id      int64
	subject string
}

// Add adds creates of a subject, "" for an import.
func (c *Creates) Add(subject string, ids ...int64) {
	now := time.Now()
	for _, id := range ids {
		c.feed.Add(create{now, id, subject})
	}
	c.feed.Keep(maxCreates)
}

// Clear removes all creates, after a reset.
func (c *Creates) Clear() { c.feed.Keep(0) }

// A shownCreate is a create as the page shows it.
type shownCreate struct {
	Number  int64     `json:"number"`
	Time    time.Time `json:"time"`
	Subject string    `json:"subject,omitzero"`
	Plant   plant     `json:"plant"`
}

// pageCreates responds with the last creates, see [requests.Feed.Query].
func (o *Operator) pageCreates(w *response, r *http.Request) error {
	if o.Creates == nil {
		return models.NewError(models.CodeForbidden, "only a running server keeps its last creates")
	}
	first, all, failure := o.Creates.feed.Query(r)
	if failure != nil {
		return failure
	}
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
