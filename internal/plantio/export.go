package plantio

import (
	"context"
	"iter"
	"math"

	"plantstore/storage"
)

// progressStep is the number of plants between two reports of progress.
const progressStep = 1000

// A Source calls each for plants in ascending order of their ids. It ends with the first
// error, its own or an error of each.
type Source func(ctx context.Context, each func(storage.Record) error) error

// A Lister lists plants, as [storage.Store] does.
type Lister interface {
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
}

// Export writes the plants of source to out, flushes it, and returns their number. It
// calls progress with the number so far.
func Export(ctx context.Context, source Source, out Writer, progress func(plants int64)) (plants int64, err error) {
	err = source(ctx, func(record storage.Record) error {
		if plants++; plants%progressStep == 0 {
			progress(plants)
		}
		return out.Write(record)
	})
	if err != nil {
		return plants, err
	}
	return plants, out.Flush()
}

// A Query selects plants. The zero Query selects all.
type Query struct {
	After *int64  // only greater ids
	Tag   *string // only this tag
	Limit *int64  // maximum number of plants
}

// Source returns the plants of store that the query selects.
func (q Query) Source(store Lister) Source {
	return func(ctx context.Context, each func(storage.Record) error) error {
		from, left := int64(math.MinInt64), int64(math.MaxInt64)
		if q.After != nil {
			from = *q.After
		}
		if q.Limit != nil {
			left = *q.Limit
		}
		if left == 0 {
			return nil
		}
		for record, err := range store.List(ctx, from) {
			if err != nil {
				return err
			}
			tag := record.Plant.Tag
			if q.After != nil && record.ID <= *q.After || q.Tag != nil && (tag == nil || *tag != *q.Tag) {
				continue
			}
			if err := each(record); err != nil {
				return err
			}
			if left--; left == 0 {
				return nil
			}
		}
		return nil
	}
}
