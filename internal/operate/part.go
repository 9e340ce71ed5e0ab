package operate

import (
	"context"
	"errors"
	"iter"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

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
)

// A plant is a stored plant as the page shows it.
type plant struct {
	ID   string `json:"id"` // a string: scripts read numbers as float64
	Name text   `json:"name"`
	Tag  *text  `json:"tag,omitzero"`
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
	shown := plant{ID: formatID(r.ID), Name: clip(r.Plant.Name)}
	if r.Plant.Tag != nil {
		shown.Tag = new(clip(*r.Plant.Tag))
	}
	return shown
}

func formatID(id int64) string { return strconv.FormatInt(id, 10) }

// A part is plants in the direction of the query.
type part struct {
	Plants []plant `json:"plants"`
	// Searched is the number of plants that were read.
	Searched int64 `json:"searched"`
	// Next is the id to continue from, empty at the end.
	Next string `json:"next,omitzero"`
	// Corrupt is the unreadable record that ended the part, if there is one. Next skips it.
	Corrupt *corruption `json:"corrupt,omitzero"`
}

// A corruption is a record that cannot be read. Without an ID, it is unknown where readable
// records follow.
type corruption struct {
	ID    string `json:"id,omitzero"`
	Error string `json:"error"`
}

// A listFunc is List or ListDescending of a store.
type listFunc func(ctx context.Context, from int64) iter.Seq2[storage.Record, error]

// pagePlants responds with plants for people, from an id on, or down, or with those of them whose names begin
// with a text.
func (o *Operator) pagePlants(w *response, r *http.Request) error {
	q := query{list: o.Store.List, end: math.MaxInt64, step: 1, prefix: r.URL.Query().Get("name")}
	first := int64(math.MinInt64)
	if r.URL.Query().Get("descending") == "true" {
		q.list, first, q.end, q.step = o.Store.ListDescending, q.end, first, -1
	}
	var err error
	if q.from, err = idParam(r, "from", first); err != nil {
		return err
	}
	p, err := q.read(r.Context())
	if err != nil {
		return err
	}
	return w.reply(p)
}

// A query is for plants from an id to the end of its direction.
type query struct {
	list      listFunc
	from, end int64
	step      int64  // 1, or -1 in descending order
	prefix    string // of names
}

// read reads until it has a page of plants whose names begin with the prefix, in upper or lower case, or
// until scanTime has passed.
func (q query) read(ctx context.Context) (p part, err error) {
	var deadline time.Time
	for record, err := range q.list(ctx, q.from) {
		switch {
		case errors.Is(err, storage.ErrCorrupt):
			q.endAtCorruption(&p, err)
			return p, nil
		case err != nil:
			return p, err
		case len(p.Plants) == pageSize:
			p.Next = formatID(record.ID)
			return p, nil
		}
		if p.Searched++; p.Searched == 1 {
			deadline = time.Now().Add(scanTime)
		}
		if hasPrefix(record.Plant.Name, q.prefix) {
			p.Plants = append(p.Plants, show(record))
		}
		if time.Now().After(deadline) {
			p.Next = q.after(record.ID)
			return p, nil
		}
	}
	return p, nil
}

// after returns the next id in the direction of the query, "" at its end.
func (q query) after(id int64) string {
	if id == q.end {
		return ""
	}
	return formatID(id + q.step)
}

func (q query) endAtCorruption(p *part, err error) {
	p.Corrupt = &corruption{Error: err.Error()}
	if record, ok := errors.AsType[*storage.CorruptError](err); ok {
		p.Corrupt.ID, p.Next = formatID(record.ID), q.after(record.ID)
	}
}

// hasPrefix reports whether name begins with prefix, in upper or lower case.
func hasPrefix(name, prefix string) bool {
	return strings.EqualFold(firstCharacters(name, utf8.RuneCountInString(prefix)), prefix)
}
