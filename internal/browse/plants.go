package browse

import (
	"context"
	"errors"
	"math"
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

// A page is a part of the plants, in ascending order of their ids.
type page struct {
	Plants []plant `json:"plants"`
	// Searched is the number of plants that were read.
	Searched int64 `json:"searched"`
	// Next is the id to continue from, empty at the end.
	Next string `json:"next,omitzero"`
	// Corrupt is the unreadable record that ended the page, if there is one. Next skips it.
	Corrupt *corruption `json:"corrupt,omitzero"`
}

// A corruption is a record that cannot be read. Without an ID, it is unknown where readable
// records follow.
type corruption struct {
	ID    string `json:"id,omitzero"`
	Error string `json:"error"`
}

// readPage reads plants from an id on until it has a page of plants whose names begin with
// prefix, in upper or lower case, or until scanTime has passed.
func readPage(ctx context.Context, store Store, from int64, prefix string) (p page, err error) {
	var deadline time.Time
	for record, err := range store.List(ctx, from) {
		switch {
		case errors.Is(err, storage.ErrCorrupt):
			p.endAtCorruption(err)
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
		if hasPrefix(record.Plant.Name, prefix) {
			p.Plants = append(p.Plants, show(record))
		}
		if time.Now().After(deadline) && record.ID < math.MaxInt64 {
			p.Next = formatID(record.ID + 1)
			return p, nil
		}
	}
	return p, nil
}

func (p *page) endAtCorruption(err error) {
	p.Corrupt = &corruption{Error: err.Error()}
	if record, ok := errors.AsType[*storage.CorruptError](err); ok {
		p.Corrupt.ID = formatID(record.ID)
		if record.ID < math.MaxInt64 {
			p.Next = formatID(record.ID + 1)
		}
	}
}

// hasPrefix reports whether name begins with prefix, in upper or lower case.
func hasPrefix(name, prefix string) bool {
	return strings.EqualFold(firstCharacters(name, utf8.RuneCountInString(prefix)), prefix)
}

// highestID returns the highest id, the lowest possible one if there are no plants. A store lists
// in ascending order only, so the id is found bit by bit, with 64 short lists.
func highestID(ctx context.Context, store Store) (id int64, err error) {
	var position uint64 // of the id in the order of all ids
	for bit := uint64(1) << 63; bit > 0; bit >>= 1 {
		from := int64((position | bit) ^ 1<<63)
		for _, err := range store.List(ctx, from) {
			if err != nil && !errors.Is(err, storage.ErrCorrupt) {
				return 0, err
			}
			position |= bit
			break
		}
	}
	return int64(position ^ 1<<63), nil
}
