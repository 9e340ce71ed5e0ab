package plantio

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"

	"plantstore/storage"
)

const (
	// runPlants and runBytes limit a run: the plants that are sorted in memory before they are stored. An
	// engine stores ascending ids several times faster than scattered ones.
	runPlants = 1_000_000
	runBytes  = 64 << 20
	// batchPlants and batchBytes limit a batch, which is stored at once.
	batchPlants = 16_384
	batchBytes  = 4 << 20
)

// An Importer stores the plants of files.
type Importer struct {
	// SkipConflicts skips a plant whose id is taken by a different one. Otherwise its line is bad.
	SkipConflicts bool
	// Create stores records as [storage.Store.CreateAll] does, or is of a [DryRun].
	Create func(ctx context.Context, records []storage.Record) []error
	// Bad is called for each bad line, in order. An error ends the import.
	Bad func(*LineError) error
	// Done is called after each batch, if it is set.
	Done func()
	// Summary counts the lines of all files whose outcome is known.
	Summary Summary
}

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

// A placed is a plant with its place in the file.
type placed struct {
	storage.Record

	at Position
}

// A run is a part of a file.
type run struct {
	plants []*placed
	bad    []*LineError
	err    error // final error of the reader
}

// Import stores the plants from in. It reads them in runs, sorts each run by id, and stores it in
// batches that are stored atomically. Of plants with the same id the first one in the file counts. It
// ends at the end of in, when the store fails, or when ctx is done. An error of in is a *ReadError.
// Import does not wait for a Read that blocks.
func (i *Importer) Import(ctx context.Context, in *Reader) error {
	runs := make(chan *run, 1)
	read := func() { runs <- readRun(ctx, in) }
	go read()
	for {
		var r *run
		select {
		case r = <-runs:
		case <-ctx.Done():
			return ctx.Err()
		}
		ahead := r.err == nil && len(r.plants) <= batchPlants // a long one has the memory for itself
		if ahead {
			go read()
		}
		err := i.store(ctx, r)
		switch {
		case err != nil:
			return err
		case errors.Is(r.err, io.EOF):
			return nil
		case r.err != nil:
			return &ReadError{r.err}
		case !ahead:
			go read()
		}
	}
}

// readRun reads a run. It ends with a batch of ids that ascend: these need no sorting.
func readRun(ctx context.Context, in *Reader) *run {
	r, ascending := new(run), true
	for size := 0; len(r.plants)+len(r.bad) < runPlants && size < runBytes && ctx.Err() == nil; {
		if ascending && (len(r.plants) == batchPlants || size >= batchBytes) {
			break
		}
		record, at, err := in.Read()
		bad, isBad := errors.AsType[*LineError](err)
		switch {
		case isBad:
			r.bad = append(r.bad, bad)
			size += len(bad.Reason)
		case err != nil:
			r.err = err
			return r
		default:
			ascending = ascending && (len(r.plants) == 0 || record.ID > r.plants[len(r.plants)-1].ID)
			r.plants = append(r.plants, &placed{record, at})
			size += record.Size()
		}
	}
	return r
}

// store stores the plants of a run, counts the outcomes, and reports the bad lines.
func (i *Importer) store(ctx context.Context, r *run) error {
	slices.SortFunc(r.plants, func(x, y *placed) int {
		if x.ID == y.ID {
			return x.at.compare(y.at)
		}
		return cmp.Compare(x.ID, y.ID)
	})
	var failed error
	for rest := r.plants; len(rest) > 0 && failed == nil; {
		batch := nextBatch(rest)
		for n, err := range i.Create(ctx, batch) {
			if err := i.count(r, rest[n], err); err != nil && failed == nil {
				failed = fmt.Errorf("line %d: %w", rest[n].at.Line, err)
			}
		}
		rest = rest[len(batch):]
		if i.Done != nil {
			i.Done()
		}
	}
	slices.SortFunc(r.bad, func(x, y *LineError) int { return x.compare(y.Position) })
	i.Summary.Bad += int64(len(r.bad))
	for _, bad := range r.bad {
		if err := i.Bad(bad); err != nil {
			return err
		}
	}
	return failed
}

// nextBatch returns the first plants.
func nextBatch(plants []*placed) []storage.Record {
	batch := make([]storage.Record, 0, min(batchPlants, len(plants)))
	for size := 0; len(batch) < cap(batch) && size < batchBytes; {
		record := plants[len(batch)].Record
		batch = append(batch, record)
		size += record.Size()
	}
	return batch
}

// count counts the outcome of a plant. It returns an error if the import must end.
func (i *Importer) count(r *run, plant *placed, err error) error {
	bad := func(format string, args ...any) { r.bad = append(r.bad, badLine(plant.at, format, args...)) }
	exists, isConflict := errors.AsType[*storage.ExistsError](err)
	switch {
	case err == nil:
		i.Summary.Created++
	case isConflict && exists.Identical:
		i.Summary.Identical++
	case isConflict && i.SkipConflicts:
		i.Summary.Skipped++
	case isConflict:
		i.Summary.Conflicts++
		bad("id: %d is taken by a different plant", plant.ID)
	case errors.As(err, new(*storage.CorruptError)):
		bad("id: %d is taken by a corrupt record: stop the server and run plantstore check", plant.ID)
	default:
		return err
	}
	return nil
}

// DryRun returns a function for [Importer.Create] that stores nothing, and returns the outcomes that
// creates would have. stored returns them for what is stored, as [storage.Store.DryRun] does. The function
// keeps a hash of each plant, to find ids that come twice.
func DryRun(stored func(ctx context.Context, records []storage.Record) []error) func(context.Context, []storage.Record) []error {
	created, seed := make(map[int64]uint64), maphash.MakeSeed()
	return func(ctx context.Context, records []storage.Record) []error {
		outcomes := stored(ctx, records)
		for i, record := range records {
			text, _ := record.Plant.AppendFields(nil) // read plants are UTF-8
			hash := maphash.Bytes(seed, text)
			if first, found := created[record.ID]; found {
				outcomes[i] = &storage.ExistsError{Identical: first == hash}
			} else if outcomes[i] == nil {
				created[record.ID] = hash
			}
		}
		return outcomes
	}
}
