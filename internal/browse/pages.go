package browse

import (
	"context"
	"errors"
	"math"
	"strconv"

	"plantstore/storage"
)

const (
	// pageWeight is the number of plants on a page; there are fewer if they are large.
	pageWeight = 50
	// maxWeight limits how much is read to find the page before an id.
	maxWeight = 8 * pageWeight
	// unitBytes is the size in bytes that counts as one small plant. No plant weighs more than a
	// page.
	unitBytes = 64 << 10
	// maxCharacters is the maximum number of characters of a name or a tag that are sent to the
	// page.
	maxCharacters = 200
)

// A plant is a stored plant as the page shows it.
type plant struct {
	ID   string `json:"id"` // a string: scripts read numbers as float64
	Name text   `json:"name"`
	Tag  *text  `json:"tag,omitzero"`

	weight int // share of a page
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
	shown := plant{ID: strconv.FormatInt(r.ID, 10), Name: clip(r.Plant.Name), weight: min(1+r.Size()/unitBytes, pageWeight)}
	if r.Plant.Tag != nil {
		shown.Tag = new(clip(*r.Plant.Tag))
	}
	return shown
}

// A page is a part of the plants, in ascending order of their ids.
type page struct {
	Plants []plant `json:"plants"`
	// Before and After report whether there are plants with lower and higher ids.
	Before bool `json:"before"`
	After  bool `json:"after"`
	// Corrupt is the unreadable record before or after the plants, if there is one.
	Corrupt *corruption `json:"corrupt,omitzero"`
}

// A corruption is a record that cannot be read. Without an ID, it is unknown where readable
// records follow.
type corruption struct {
	ID    string `json:"id,omitzero"`
	Error string `json:"error"`

	id int64 // if there is an ID
}

// newCorruption returns the corruption of an error, nil if it is another error.
func newCorruption(err error) *corruption {
	if !errors.Is(err, storage.ErrCorrupt) {
		return nil
	}
	c := &corruption{Error: err.Error()}
	if record, ok := errors.AsType[*storage.CorruptError](err); ok {
		c.id, c.ID = record.ID, strconv.FormatInt(record.ID, 10)
	}
	return c
}

// A window is a range of consecutive ids that was read.
type window struct {
	plants  []plant
	weight  int         // of all of them
	full    bool        // there are more plants
	corrupt *corruption // the record after the plants
}

// some reports whether the window has records, readable or not.
func (w *window) some() bool { return len(w.plants) > 0 || w.full || w.corrupt != nil }

// read reads the plants with ids from from through last, up to a weight.
func read(ctx context.Context, store Store, from, last int64, weight int) (w window, err error) {
	for record, err := range store.List(ctx, from) {
		if c := newCorruption(err); c != nil {
			if c.ID == "" || c.id <= last {
				w.corrupt = c
			}
			return w, nil
		}
		if err != nil || record.ID > last {
			return w, err
		}
		shown := show(record)
		if w.full = w.weight+shown.weight > weight; w.full {
			break
		}
		w.plants, w.weight = append(w.plants, shown), w.weight+shown.weight
	}
	return w, nil
}

// from returns the page of the plants whose ids are at least from.
func (s *Site) from(ctx context.Context, from int64) (p page, err error) {
	err = s.withStore(ctx, func(store Store, _ Source) error {
		w, err := read(ctx, store, from, math.MaxInt64, pageWeight)
		if err != nil {
			return err
		}
		p = page{Plants: w.plants, After: w.full || w.corrupt != nil && w.corrupt.ID != "", Corrupt: w.corrupt}
		if from == math.MinInt64 {
			return nil
		}
		below, err := read(ctx, store, math.MinInt64, from-1, 0)
		p.Before = below.some()
		return err
	})
	return p, err
}

// through returns the page of the plants with ids up to last.
func (s *Site) through(ctx context.Context, last int64) (p page, err error) {
	err = s.withStore(ctx, func(store Store, _ Source) error {
		b := backwards{store: store, end: position(last)}
		if last == math.MaxInt64 {
			b.near = s.top.Load()
		}
		if p, err = b.page(ctx); err != nil {
			return err
		}
		if last == math.MaxInt64 {
			s.top.Store(b.few)
			return nil
		}
		above, err := read(ctx, store, last+1, math.MaxInt64, 0)
		p.After = above.some()
		return err
	})
	return p, err
}
