package plantio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"plantstore/models"
	"plantstore/storage"
)

const (
	// batchLines and batchBytes limit a batch, which is stored at once.
	batchLines = 16_384
	batchBytes = 4 << 20
	// batchesBuffered is the number of batches that are read in advance.
	batchesBuffered = 2
)

// Options configure an import.
type Options struct {
	// SkipConflicts skips a plant whose id is taken by a different one.
	// Otherwise its line is bad.
	SkipConflicts bool
	// Create stores records as [storage.Store.CreateAll] does, or is [DryRun]. An outcome may
	// also match [ErrRefused].
	Create func(ctx context.Context, records []storage.Record) []error
	// Bad is called for each bad line, in order. An error ends the import.
	Bad func(*LineError) error
	// Done is called after each batch, if it is set.
	Done func()
}

// ErrRefused is the outcome of a plant that the server would refuse for POST, too: nothing was
// stored.
var ErrRefused = errors.New("the server refuses the plant")

// A ReadError is an error of the input, as opposed to the store.
type ReadError struct{ error }

func (e *ReadError) Unwrap() error { return e.error }

// A Summary counts lines by their outcome.
type Summary struct {
	Created   int64 `json:"created"`
	Identical int64 `json:"identical"` // already stored
	Skipped   int64 `json:"skipped"`   // with SkipConflicts: the id is taken by a different plant
	Bad       int64 `json:"bad"`       // invalid, conflicting or blocked by a corrupt record
	Conflicts int64 `json:"-"`         // the part of Bad whose ids are taken by different plants
}

// A batch is a group of records to store at once, and the bad lines among them.
type batch struct {
	records []storage.Record
	places  []Position // of the records
	bad     []*LineError
	err     error // final error of the reader
}

// Import stores the plants from in, in batches that are stored atomically. It ends at
// the end of in, when the store fails, or when ctx is done. It adds the lines with a known
// outcome to sum. An error of in is a *ReadError. Import does not wait for a Read that
// blocks.
func Import(ctx context.Context, in *Reader, options Options, sum *Summary) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	batches := make(chan *batch, batchesBuffered)
	go readBatches(ctx, in, batches)
	for {
		select {
		case b := <-batches:
			if err := b.store(ctx, options, sum); err != nil {
				return err
			}
			if options.Done != nil {
				options.Done()
			}
			switch {
			case errors.Is(b.err, io.EOF):
				return nil
			case b.err != nil:
				return &ReadError{b.err}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func readBatches(ctx context.Context, in *Reader, batches chan<- *batch) {
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

func readBatch(in *Reader) *batch {
	b := &batch{records: make([]storage.Record, 0, batchLines), places: make([]Position, 0, batchLines)}
	for size := 0; len(b.records)+len(b.bad) < batchLines && size < batchBytes; {
		record, at, err := in.Read()
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
		b.places = append(b.places, at)
		size += record.Size()
	}
	return b
}

// store stores the records of the batch, counts the outcomes, and reports the bad
// lines.
func (b *batch) store(ctx context.Context, options Options, sum *Summary) error {
	var failed error
	if len(b.records) > 0 {
		for i, err := range options.Create(ctx, b.records) {
			if err := b.count(i, err, options.SkipConflicts, sum); err != nil && failed == nil {
				failed = fmt.Errorf("line %d: %w", b.places[i].Line, err)
			}
		}
	}
	slices.SortFunc(b.bad, func(x, y *LineError) int { return cmp.Or(x.Line-y.Line, x.Element-y.Element) })
	sum.Bad += int64(len(b.bad))
	for _, bad := range b.bad {
		if err := options.Bad(bad); err != nil {
			return err
		}
	}
	return failed
}

// count counts the outcome of a record. It returns an error if the import must end.
func (b *batch) count(i int, err error, skipConflicts bool, sum *Summary) error {
	exists, isConflict := errors.AsType[*storage.ExistsError](err)
	switch id := b.records[i].ID; {
	case err == nil:
		sum.Created++
	case isConflict && exists.Identical:
		sum.Identical++
	case isConflict && skipConflicts:
		sum.Skipped++
	case isConflict:
		sum.Conflicts++
		b.bad = append(b.bad, badLine(b.places[i], "id: %d is taken by a different plant", id))
	case errors.As(err, new(*storage.CorruptError)):
		b.bad = append(b.bad, badLine(b.places[i], "id: %d is taken by a corrupt record: stop the server and run plantstore check", id))
	case errors.Is(err, ErrRefused):
		b.bad = append(b.bad, badLine(b.places[i], "%v", err))
	default:
		return err
	}
	return nil
}

// DryRun returns a function for [Options] that stores nothing, and returns the errors for ids that
// are taken. It does not notice an id that comes twice.
func DryRun(get func(ctx context.Context, id int64) (models.Plant, error)) func(context.Context, []storage.Record) []error {
	return func(ctx context.Context, records []storage.Record) []error {
		outcomes := make([]error, len(records))
		for i, record := range records {
			stored, err := get(ctx, record.ID)
			switch {
			case err == nil:
				outcomes[i] = &storage.ExistsError{Stored: stored, Identical: stored.Equal(record.Plant)}
			case !errors.Is(err, storage.ErrNotFound):
				outcomes[i] = err
			}
		}
		return outcomes
	}
}
