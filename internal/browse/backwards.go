package browse

import (
	"context"
	"math"
)

// position returns the index of an id in the order of all ids, beginning with 0.
func position(id int64) uint64 { return uint64(id) ^ 1<<63 } //nolint:gosec // the bits are meant

// idAt is the inverse of position.
func idAt(position uint64) int64 { return int64(position ^ 1<<63) } //nolint:gosec // the bits are meant

// A backwards finds the page that ends with an id. A store lists in ascending order only, so it
// searches for an id to begin with: so low that there are enough plants from there on, and so
// high that they are not too many to read. It steps away from the expected position, with
// growing steps, and then bisects: usually two short reads, at most some 100.
type backwards struct {
	store Store
	end   uint64 // the position at which the page ends
	near  uint64 // the position to try first, 0 if unknown

	few     uint64 // from here on there are too few plants, which are in best
	best    window
	many    uint64 // a read from here on is too long, or meets a corrupt record; set if bounded
	bounded bool
	corrupt *corruption // that the read from many on has met; nil: it was only too long
}

func (b *backwards) page(ctx context.Context) (page, error) {
	enough, err := b.try(ctx, b.end)
	if b.bounded { // a single record is never too much: it is corrupt
		return page{Before: b.corrupt.ID != "", Corrupt: b.corrupt}, err
	}
	at, step := b.end-min(b.end, pageWeight), uint64(pageWeight)
	if b.near > 0 && b.near < b.end {
		at = b.near
	}
	for err == nil && !enough && b.few > 0 && (!b.bounded || b.few-b.many > 1) {
		enough, err = b.try(ctx, at)
		step = min(step*4, math.MaxUint64/4)
		switch {
		case !b.bounded:
			at = b.few - min(b.few, step)
		case b.corrupt != nil && b.corrupt.ID != "":
			at = b.many + 1
		default:
			at = b.many + min(step, (b.few-b.many)/2)
		}
	}
	if err != nil {
		return page{}, err
	}
	return b.result(), nil
}

// try reads the plants from a position on and reports whether they are enough for a page.
func (b *backwards) try(ctx context.Context, at uint64) (enough bool, err error) {
	w, err := read(ctx, b.store, idAt(at), idAt(b.end), maxWeight)
	if err != nil {
		return false, err
	}
	if w.full || w.corrupt != nil {
		b.many, b.bounded, b.corrupt = at, true, w.corrupt
		if w.corrupt != nil && w.corrupt.ID != "" {
			b.many = position(w.corrupt.id)
		}
		return false, nil
	}
	b.few, b.best = at, w
	return w.weight > pageWeight, nil
}

// result returns the end of the best window as a page.
func (b *backwards) result() page {
	first, weight := len(b.best.plants), 0
	for first > 0 && weight+b.best.plants[first-1].weight <= pageWeight {
		first--
		weight += b.best.plants[first].weight
	}
	p := page{Plants: b.best.plants[first:], Before: first > 0 || b.bounded}
	if first == 0 && b.bounded && b.few-b.many == 1 {
		p.Corrupt = b.corrupt
	}
	return p
}
