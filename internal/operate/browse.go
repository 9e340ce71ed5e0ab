package operate

import (
	"errors"
	"iter"
	"math"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"plantstore/internal/requests"
	"plantstore/models"
	"plantstore/storage"
)

const (
	// pageSize is the maximum number of plants on a page.
	pageSize = 50
	// scanTime limits the time for reading a page, from the first plant on: a database file is
	// locked during it, and a server that starts tries to lock it for a second.
	scanTime = 200 * time.Millisecond
	// maxCharacters is the maximum number of characters of a name or a tag that are sent to the
	// page.
	maxCharacters = 200
	// maxCreates is the number of creates that are kept.
	maxCreates = 100
)

// A plant is a stored plant as the page shows it. Its ids are strings: scripts read numbers as float64.
type plant struct {
	ID   int64 `json:"id,string"`
	Name text  `json:"name"`
	Tag  *text `json:"tag,omitzero"`
}

// A text is a name or a tag, or its beginning.
type text struct {
	Text string `json:"text"`
	// Bytes is the size of the complete text, 0 if Text is complete.
	Bytes int `json:"bytes,omitzero"`
}

func clip(s string) text {
	shown := text{Text: firstCharacters(s, maxCharacters)}
	if len(shown.Text) < len(s) {
		shown.Bytes = len(s)
	}
	return shown
}

// firstCharacters returns the first n characters of s, or all of them.
func firstCharacters(s string, n int) string {
	for end := range s {
		if n == 0 {
			return s[:end]
		}
		n--
	}
	return s
}

func show(r storage.Record) plant {
	shown := plant{ID: r.ID, Name: clip(r.Plant.Name)}
	if r.Plant.Tag != nil {
		shown.Tag = new(clip(*r.Plant.Tag))
	}
	return shown
}

// A part is plants in the direction of a query.
type part struct {
	Plants []plant `json:"plants"`
	// Searched is the number of plants that were read.
	Searched int64 `json:"searched"`
	// Next is the id to continue from, nil at the end.
	Next *int64 `json:"next,string,omitzero"`
	// Corrupt is the unreadable record that ended the part, if there is one. Next skips it.
	Corrupt *corruption `json:"corrupt,omitzero"`
}

// A corruption is a record that cannot be read. Without an ID, it is unknown where readable
// records follow.
type corruption struct {
	ID    *int64 `json:"id,string,omitzero"`
	Error string `json:"error"`
}

// pagePlants responds with plants for people, from an id on, or down, or with those of them whose names begin
// with a text.
func (o *Operator) pagePlants(w *response, r *http.Request) error {
	list, first, step := o.Store.List, int64(math.MinInt64), int64(1)
	if r.URL.Query().Get("descending") == "true" {
		list, first, step = o.Store.ListDescending, math.MaxInt64, -1
	}
	from, err := idParam(r, "from", first)
	if err != nil {
		return err
	}
	p, err := readPart(list(r.Context(), from), step, r.URL.Query().Get("name"))
	if err != nil {
		return err
	}
	return w.reply(p)
}

// readPart reads until it has a page of plants whose names begin with the prefix, in upper or lower case, or
// until scanTime has passed. In descending order, step is -1, else 1.
func readPart(plants iter.Seq2[storage.Record, error], step int64, prefix string) (p part, err error) {
	var deadline time.Time
	for record, err := range plants {
		switch {
		case errors.Is(err, storage.ErrCorrupt):
			p.Corrupt = &corruption{Error: err.Error()}
			if corrupt, ok := errors.AsType[*storage.CorruptError](err); ok {
				p.Corrupt.ID, p.Next = &corrupt.ID, after(corrupt.ID, step)
			}
			return p, nil
		case err != nil:
			return p, err
		case len(p.Plants) == pageSize:
			p.Next = &record.ID
			return p, nil
		}
		if p.Searched++; p.Searched == 1 {
			deadline = time.Now().Add(scanTime)
		}
		if hasPrefix(record.Plant.Name, prefix) {
			p.Plants = append(p.Plants, show(record))
		}
		if time.Now().After(deadline) {
			p.Next = after(record.ID, step)
			return p, nil
		}
	}
	return p, nil
}

// after returns the id after another one in the direction of step, nil after the last one.
func after(id, step int64) *int64 {
	next := id + step
	if (next > id) != (step > 0) { // it has overflowed
		return nil
	}
	return &next
}

// hasPrefix reports whether name begins with prefix, in upper or lower case.
func hasPrefix(name, prefix string) bool {
	return strings.EqualFold(firstCharacters(name, utf8.RuneCountInString(prefix)), prefix)
}

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
