package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"plantstore/storage"
)

const (
	// batchLines and batchBytes bound what is stored at once.
	batchLines = 16_384
	batchBytes = 4 << 20
	// batchesAhead is how many batches are read before they are needed.
	batchesAhead = 2
)

// Options say how plants are imported.
type Options struct {
	// SkipConflicts leaves out a plant whose id is taken by a different one.
	// Else its line is a bad one.
	SkipConflicts bool
	// Create stores records as [storage.Store.CreateAll] does, or only says
	// what would become of them.
	Create func(ctx context.Context, records []storage.Record) []error
	// Bad is called for each bad line, in their order. An error ends the import.
	Bad func(*LineError) error
	// Done is called after each batch with what was done so far.
	Done func(Summary)
}

// A ReadError is about what was to be imported, and not about the store.
type ReadError struct{ Err error }

// Error returns the words of what it wraps.
func (e *ReadError) Error() string { return e.Err.Error() }

// Unwrap returns what it wraps.
func (e *ReadError) Unwrap() error { return e.Err }

// A Summary counts what became of the lines.
type Summary struct {
	Created   int64 `json:"created"`
	Identical int64 `json:"identical"` // were there already
	Skipped   int64 `json:"skipped"`   // ids were taken by other plants
	Bad       int64 `json:"bad"`       // lines
	Conflicts int64 `json:"-"`         // those of the bad lines whose ids are taken by other plants
	Damaged   int64 `json:"-"`         // and by damaged records
}

// Add adds what became of other lines.
func (s *Summary) Add(o Summary) {
	s.Created += o.Created
	s.Identical += o.Identical
	s.Skipped += o.Skipped
	s.Bad += o.Bad
	s.Conflicts += o.Conflicts
	s.Damaged += o.Damaged
}

// A batch is what is stored at once, and what was bad between it.
type batch struct {
	records []storage.Record
	lines   []int // of the records
	bad     []*LineError
	err     error // that ended the reading
}

// Import stores the plants that in reads, in batches of which each is stored
// whole or not at all. It ends when in does, when the store fails or when ctx
// does; the summary then says what was stored for sure. What has ended the reading
// is a *ReadError. It does not wait for a Read that blocks.
func Import(ctx context.Context, in Reader, options Options) (sum Summary, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan *batch, batchesAhead)
	go readBatches(ctx, in, batches)
	for {
		select {
		case b := <-batches:
			if err := b.store(ctx, options, &sum); err != nil {
				return sum, err
			}
			if options.Done != nil {
				options.Done(sum)
			}
			switch {
			case errors.Is(b.err, io.EOF):
				return sum, nil
			case b.err != nil:
				return sum, &ReadError{b.err}
			}
		case <-ctx.Done():
			return sum, ctx.Err()
		}
	}
}

// readBatches sends what in reads, until it ends or ctx does.
func readBatches(ctx context.Context, in Reader, batches chan<- *batch) {
	for ended := false; !ended; {
		b := readBatch(in)
		ended = b.err != nil
		select {
		case batches <- b:
		case <-ctx.Done():
			return
		}
	}
}

// readBatch reads up to the bounds of a batch.
func readBatch(in Reader) *batch {
	b := &batch{records: make([]storage.Record, 0, batchLines), lines: make([]int, 0, batchLines)}
	for size := 0; len(b.records)+len(b.bad) < batchLines && size < batchBytes; {
		record, line, err := in.Read()
		var bad *LineError
		switch {
		case errors.As(err, &bad):
			b.bad = append(b.bad, bad)
			continue
		case err != nil:
			b.err = err
			return b
		}
		b.records = append(b.records, record)
		b.lines = append(b.lines, line)
		size += len(record.Plant.Name)
		if tag := record.Plant.Tag; tag != nil {
			size += len(*tag)
		}
	}
	return b
}

// store stores the plants of the batch, counts what became of them, and reports
// the bad lines.
func (b *batch) store(ctx context.Context, options Options, sum *Summary) error {
	var failed error
	if len(b.records) > 0 {
		for i, err := range options.Create(ctx, b.records) {
			if err := b.count(i, err, options.SkipConflicts, sum); err != nil && failed == nil {
				failed = fmt.Errorf("line %d: %w", b.lines[i], err)
			}
		}
	}
	slices.SortFunc(b.bad, func(x, y *LineError) int { return x.Line - y.Line })
	sum.Bad += int64(len(b.bad))
	for _, bad := range b.bad {
		if err := options.Bad(bad); err != nil {
			return err
		}
	}
	return failed
}

// count counts the outcome of a record. It returns an error of which others will
// have the same.
func (b *batch) count(i int, err error, skipConflicts bool, sum *Summary) error {
	var exists *storage.ExistsError
	isConflict := errors.As(err, &exists)
	switch id := b.records[i].ID; {
	case err == nil:
		sum.Created++
	case isConflict && exists.Identical:
		sum.Identical++
	case isConflict && skipConflicts:
		sum.Skipped++
	case isConflict:
		sum.Conflicts++
		b.bad = append(b.bad, &LineError{b.lines[i], fmt.Sprintf("id: %d is taken by a different plant", id)})
	case errors.Is(err, storage.ErrCorrupt):
		sum.Damaged++
		b.bad = append(b.bad, &LineError{b.lines[i], fmt.Sprintf("id: %d is taken by a record that is damaged", id)})
	case errors.Is(err, storage.ErrTooLarge):
		b.bad = append(b.bad, &LineError{b.lines[i], err.Error()})
	case errors.Is(err, storage.ErrUnrecorded):
		sum.Created++
		return err
	default:
		return err
	}
	return nil
}
