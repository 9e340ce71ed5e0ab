package journal

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"
	"time"
)

// Errors of [Journal.Append].
var (
	// ErrFull: the batch does not fit into the active half, and the other one is
	// frozen. Nothing was written; there is space after [Journal.Checkpoint].
	ErrFull = errors.New("the journal is full")
	// ErrUnknown: the batch may be in the file or not. Every later append fails
	// until the journal is opened again; pending records can still be read.
	ErrUnknown = errors.New("it is unknown whether the batch was written")
)

// A Journal is an open journal. Its methods are safe for concurrent use; only one
// [Journal.Checkpoint] may run at a time. The zero Journal has no file and no records, and accepts
// none. Values that are returned must not be changed.
type Journal struct {
	file     file
	salt     Salt
	halfSize int64 // in bytes

	appending sync.Mutex // held while a batch is written; locked before mu
	buffer    []byte     // of the batch that is written
	failed    error      // the first ErrUnknown: all later appends fail

	mu       sync.RWMutex // guards the fields below, and those of the halves
	halves   [2]half
	active   int    // the half that batches go to; the other one is frozen while it has any
	sequence uint64 // number of the last batch
	appended time.Time
}

// A half is one of the two regions that batches are written to, with its pending records: values
// are in one buffer, and a map has their places. Neither has pointers, so the garbage collector does
// not read them. While the half is frozen, they do not change and can be read without the lock.
type half struct {
	at     int64     // offset of the half in the file
	used   int64     // bytes, of whole blocks
	last   uint64    // number of the last batch
	since  time.Time // when the first batch was appended, or replayed
	places map[int64]place
	values []byte
}

// A place is where a value is in the buffer of a half.
type place struct{ at, length uint32 }

// extend makes a batch of size bytes the last one of the half. Its records are put there then.
func (h *half) extend(sequence uint64, size int, now time.Time) {
	if h.used == 0 {
		h.since = now
	}
	if h.places == nil {
		h.places = map[int64]place{}
	}
	h.last = sequence
	h.used += int64(size)
}

// put makes a record pending.
func (h *half) put(r Record) {
	h.places[r.ID] = place{uint32(len(h.values)), uint32(len(r.Value))} //nolint:gosec // less than the half has
	h.values = append(h.values, r.Value...)
}

// record returns the pending record at a place.
func (h *half) record(id int64, p place) Record {
	return Record{id, h.values[p.at : p.at+p.length : p.at+p.length]}
}

// A file has the methods of an [os.File] that a journal needs.
type file interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Close() error
}

// A dataFile is a file whose Sync leaves out metadata where the system can do that.
type dataFile struct{ *os.File }

// MaxBatch returns the maximum [Size] in bytes of a batch, which is the size of a half.
func (j *Journal) MaxBatch() int { return int(j.halfSize) }

// Append writes records as one batch and syncs it. When it returns nil they are
// durable and pending. No id may be pending already, or twice among them.
//
// It returns [ErrFull] or [ErrUnknown]. After any other error the batch is not in the
// journal, and never will be.
func (j *Journal) Append(records []Record) error {
	j.appending.Lock()
	defer j.appending.Unlock()
	if j.failed != nil {
		return fmt.Errorf("an earlier append has failed: %s", j.failed.Error())
	}
	size := Size(records)
	if size > j.MaxBatch() {
		return fmt.Errorf("a batch of %d bytes is too large for half of the journal", size)
	}
	if int64(size) > j.halfSize-j.halves[j.active].used && !j.turn() {
		return ErrFull
	}
	h := &j.halves[j.active]
	j.buffer = slices.Grow(j.buffer[:0], size)[:size]
	encodeBatch(j.buffer, j.salt, j.sequence+1, records)
	at := h.at + h.used
	if _, err := j.file.WriteAt(j.buffer, at); err != nil {
		return j.revoke(at, err)
	}
	if err := j.file.Sync(); err != nil {
		j.failed = fmt.Errorf("%w: %w", ErrUnknown, err)
		return j.failed
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.sequence++
	j.appended = time.Now()
	h.extend(j.sequence, size, j.appended)
	for _, r := range records {
		h.put(r)
	}
	return nil
}

// revoke invalidates a batch whose write has failed: part of it may be in the file, and
// all of it in the cache.
func (j *Journal) revoke(at int64, cause error) error {
	_, err := j.file.WriteAt(make([]byte, Block), at)
	if err = cmp.Or(err, j.file.Sync()); err != nil {
		j.failed = fmt.Errorf("%w: %w", ErrUnknown, errors.Join(cause, err))
		return j.failed
	}
	return cause
}

// inactive returns the half that batches do not go to.
func (j *Journal) inactive() *half { return &j.halves[1-j.active] }

// turn makes the other half active, unless it is frozen. The caller holds appending.
func (j *Journal) turn() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.inactive().used > 0 {
		return false
	}
	j.active = 1 - j.active
	return true
}

// Get returns the pending value of id.
func (j *Journal) Get(id int64) (value []byte, found bool) {
	j.mu.RLock()
	defer j.mu.RUnlock()
	for i := range j.halves {
		if p, found := j.halves[i].places[id]; found {
			return j.halves[i].record(id, p).Value, true
		}
	}
	return nil, false
}

// Pending returns the pending records with an id of at least from, in ascending order of id.
func (j *Journal) Pending(from int64) []Record {
	records := make([]Record, 0, j.Stats().Records) // without the lock: appends wait for that
	add := func(h *half) {
		for id, p := range h.places {
			if id >= from {
				records = append(records, h.record(id, p))
			}
		}
	}
	j.mu.RLock()
	inactive := *j.inactive()
	add(&j.halves[j.active])
	j.mu.RUnlock()
	if inactive.used > 0 { // it is frozen; an empty one may become active meanwhile
		add(&inactive)
	}
	slices.SortFunc(records, func(a, b Record) int { return cmp.Compare(a.ID, b.ID) })
	return records
}

// Stats are the number and size of the pending records.
type Stats struct {
	Records int
	// Bytes is how much of the file is in use, and Active how much of the half
	// that batches go to.
	Bytes, Active int64
	// Oldest is when the oldest pending batch was appended, or read by Open. It is
	// zero if there is none. Appended is when Append last succeeded, or zero.
	Oldest, Appended time.Time
}

// Stats returns the counts of this moment.
func (j *Journal) Stats() Stats {
	j.mu.RLock()
	defer j.mu.RUnlock()
	active, inactive := &j.halves[j.active], j.inactive()
	return Stats{
		Records: len(active.places) + len(inactive.places),
		Bytes:   active.used + inactive.used, Active: active.used,
		Oldest: cmp.Or(inactive.since, active.since), Appended: j.appended,
	}
}

// Close releases the file. Pending records stay in it.
func (j *Journal) Close() error {
	j.appending.Lock()
	defer j.appending.Unlock()
	return j.file.Close()
}
