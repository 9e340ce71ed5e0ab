package storage

import (
	"cmp"
	"context"
	"io"
	"iter"

	"plantstore/models"
)

// An Engine keeps plants, and does for a [Store] what only the engine can do. Its
// methods may be called from any number of goroutines at once.
type Engine interface {
	// Commit stores the plants of a batch, which is sorted by id and has each id
	// once. If it returns nil, every item is durable except those in which it has
	// set Existing or Err. If it returns an error, none of them is stored, or, if
	// the error matches [ErrUnknown], perhaps some; a [FatalError] also
	// stops the store, as does a panic. It is called by at most Writers goroutines at
	// a time, see [Limits], and must not keep batch or what its plants point to.
	//
	// An empty batch is a trial after a failed commit: it stores nothing, and succeeds
	// only if a commit of plants would, as far as can be found out. So it writes and
	// syncs as that does.
	Commit(batch []Item) error

	// Get is Get of [Store].
	Get(ctx context.Context, id int64) (models.Plant, error)

	// List is List of [Store].
	List(ctx context.Context, from int64) iter.Seq2[Record, error]

	// Check is Check of [Store].
	Check(ctx context.Context, each func(Record) error) (Report, error)

	// Close releases the engine. The store calls it once, when nothing is being
	// committed and Run has returned. Get and List may be under way or come later,
	// and return [ErrUnavailable] then.
	Close() error
}

// An Item is one plant of a batch, and the outcome of its create.
type Item struct {
	Record

	// Existing is set by the engine if the id is taken: the plant that is
	// stored under it. This one is then not stored.
	Existing *models.Plant
	// Err is set by the engine if this plant was not stored for a reason
	// that does not concern the others of the batch. Creates of the same id
	// that came in later get it, too: they are not tried.
	Err error
}

// outcome returns the outcome of a create of plant after the commit of its id
// returned err: the create that was tried, if first, or one that came later.
func (i *Item) outcome(plant models.Plant, first bool, err error) error {
	switch {
	case i.Err != nil:
		return i.Err
	case i.Existing != nil: // Of an earlier commit, whatever became of this one.
		return &ExistsError{Identical: i.Existing.Equal(plant)}
	case err != nil:
		return err
	case !first:
		return &ExistsError{Identical: i.Plant.Equal(plant)}
	}
	return nil
}

// Features are what an engine has or can do beyond [Engine]. The zero value is an
// engine with no features and the usual limits.
type Features struct {
	// Limits bound queue and batches.
	Limits Limits
	// ReadOnly engines refuse creates: Commit, Probe and Run are never called.
	ReadOnly bool
	// Count returns the number of plants that the engine keeps up to date. Without
	// it Count of [Store] reads all plants.
	Count func(ctx context.Context) (int64, error)
	// File returns statistics of the file in which the plants are. It is cheap.
	File func() FileStats
	// Snapshot is Snapshot of [Store].
	Snapshot func(ctx context.Context, w io.Writer) error
	// Probe returns nil if a remote engine can store plants, else why not. It is
	// called every few seconds, and returns soon after ctx has ended.
	Probe func(ctx context.Context) error
	// Run is the engine's background work. The store starts it, and ends ctx when
	// the queue is drained; Run returns soon after that. To stop the store after a
	// fault, it calls stop, at any time and from any goroutine; the first cause
	// stays.
	Run func(ctx context.Context, stop func(cause error))
}

// Limits bound queue and batches of a [Store]. A field that is 0 takes its default.
// A single plant may be larger than the bounds in bytes: it goes alone.
type Limits struct {
	QueuePlants int // plants that wait for a batch; 10,000
	QueueBytes  int // bytes of their names and tags; 64 MiB
	BatchPlants int // plants in one batch; 4,096
	BatchBytes  int // bytes of their names and tags; 16 MiB
	Writers     int // batches that are committed at a time; 1
}

// withDefaults returns l with its zero fields filled in.
func (l Limits) withDefaults() Limits {
	return Limits{
		QueuePlants: cmp.Or(l.QueuePlants, 10_000),
		QueueBytes:  cmp.Or(l.QueueBytes, 64<<20),
		BatchPlants: cmp.Or(l.BatchPlants, 4096),
		BatchBytes:  cmp.Or(l.BatchBytes, 16<<20),
		Writers:     cmp.Or(l.Writers, 1),
	}
}

// fit returns how many of the records go into one batch: one at least.
func (l Limits) fit(records []Record) int {
	bytes := 0
	for n, r := range records {
		bytes += r.size()
		if n > 0 && (n == l.BatchPlants || bytes > l.BatchBytes) {
			return n
		}
	}
	return len(records)
}
