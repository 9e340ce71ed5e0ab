package journal

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
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

// A Journal is an open journal. Its methods are safe for concurrent use, except Rewrite; only one
// [Journal.Checkpoint] may run at a time. The zero Journal has no file and no records, and accepts
// none.
type Journal struct {
	file file
	salt Salt

	appending sync.Mutex // held while a batch is written; locked before mu
	batch     []byte     // that is written, reused
	failed    error      // the first ErrUnknown: all later appends fail

	mu       sync.RWMutex // guards the fields below, and the index and counters of the halves
	halves   [2]half
	active   int    // the half that batches go to; the other one is frozen while it has any
	sequence uint64 // number of the last batch
	appended time.Time
}

// A file has the methods of an [os.File] that a journal needs.
type file interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
	Stat() (fs.FileInfo, error)
	Close() error
	// Map returns the first size bytes of the file, for reading until Close. They change with
	// WriteAt. Access to a page that cannot be read panics, see catchFaults.
	Map(size int64) ([]byte, error)
}

// A dataFile is a file whose Sync leaves out metadata where the system can do that.
type dataFile struct {
	*os.File

	mapped []byte
}

// Close implements [file].
func (f *dataFile) Close() error {
	release(f.mapped)
	f.mapped = nil
	return f.File.Close()
}

// Format makes the empty file a journal of at most size bytes without batches, and
// returns its salt. It does not sync the file.
func Format(file *os.File, size int64) (Salt, error) {
	if size < MinSize || size > MaxSize {
		return Salt{}, fmt.Errorf("a journal has from %d to %d bytes, not %d", MinSize, MaxSize, size)
	}
	h := header{Magic: [len(magic)]byte([]byte(magic)), Version: version, Half: uint64(halfSize(size))} //nolint:gosec // not negative
	_, _ = rand.Read(h.Salt[:])                                                                         // never fails
	if _, err := file.WriteAt(h.encode(), 0); err != nil {
		return Salt{}, err
	}
	if _, err := WriteZeros(file, Block, h.size()-Block); err != nil {
		return Salt{}, err
	}
	return h.Salt, nil
}

// WriteZeros writes n zeros to file from offset on, and returns how many it has written. Blocks
// that are only reserved would not do: the first write to one changes metadata, which the sync
// after it has to wait for as well.
func WriteZeros(file io.WriterAt, offset, n int64) (written int64, err error) {
	zeros := make([]byte, min(n, 1<<20))
	for written < n && err == nil {
		var w int
		w, err = file.WriteAt(zeros[:min(n-written, int64(len(zeros)))], offset+written)
		written += int64(w)
	}
	return written, err
}

// ReadSalt returns the salt of the journal in file. The error matches [ErrCorrupt] if
// file is not a journal, or its header is corrupt.
func ReadSalt(file io.ReaderAt) (Salt, error) {
	h, err := readHeader(file)
	return h.Salt, err
}

// IsJournal reports whether a file begins as a journal does, intact or not.
func IsJournal(file io.ReaderAt) bool {
	head := make([]byte, len(magic))
	_, err := file.ReadAt(head, 0)
	return err == nil && string(head) == magic
}

// MaxBatch returns the maximum [Size] in bytes of a batch, which is the size of a half. Fewer
// bytes fit if the values are nearly empty.
func (j *Journal) MaxBatch() int {
	j.mu.RLock()
	defer j.mu.RUnlock()
	return len(j.halves[0].bytes)
}

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
	if h := &j.halves[0]; size > len(h.bytes) || len(records) > h.maxRecords() {
		return fmt.Errorf("a batch of %d bytes and %d records is too large for half of the journal", size, len(records))
	}
	if !j.halves[j.active].fits(size, len(records)) && !j.turn() {
		return ErrFull
	}
	h := &j.halves[j.active]
	j.batch = slices.Grow(j.batch[:0], size)[:size]
	encodeBatch(j.batch, j.salt, j.sequence+1, records)
	at := h.at + int64(h.used)
	if _, err := j.file.WriteAt(j.batch, at); err != nil {
		return j.revoke(at, err)
	}
	if err := j.file.Sync(); err != nil {
		j.failed = fmt.Errorf("%w: %w", ErrUnknown, err)
		return j.failed
	}
	j.add(h, records, size)
	return nil
}

// add makes the records of a batch pending.
func (j *Journal) add(h *half, records []Record, size int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	at := h.used + batchHeadLen
	for _, r := range records {
		h.insert(r.ID, at)
		at += recordHeadLen + len(r.Value)
	}
	j.sequence++
	j.appended = time.Now()
	h.extend(j.sequence, h.used+size, j.appended)
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

// Get returns a copy of the pending value of id. An error means that the file cannot be read.
func (j *Journal) Get(id int64) (value []byte, found bool, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	j.mu.RLock()
	defer j.mu.RUnlock()
	r, found := j.find(id)
	return slices.Clone(r.Value), found, nil
}

// errUnreadable is the error of a page that cannot be read.
var errUnreadable = errors.New("a page of the journal cannot be read: the disk has failed, or the file was truncated")

// catchFault makes err the error of a page that cannot be read, instead of a panic, see
// [debug.SetPanicOnFault]. It must be deferred.
func catchFault(err *error) {
	switch p := recover().(type) {
	case nil:
	case interface{ Addr() uintptr }:
		*err = errUnreadable
	default:
		panic(p)
	}
}

// find returns the pending record of id.
func (j *Journal) find(id int64) (r Record, found bool) {
	for i := range j.halves {
		if r, found = j.halves[i].find(id); found {
			break
		}
	}
	return r, found
}

// IDs returns the pending ids that are at least from, in ascending order. An error means that
// the file cannot be read.
func (j *Journal) IDs(from int64) (ids []int64, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	j.mu.RLock()
	defer j.mu.RUnlock()
	ids = make([]int64, 0, j.halves[0].records+j.halves[1].records)
	for i := range j.halves {
		j.halves[i].all(func(id int64, _ int) {
			if id >= from {
				ids = append(ids, id)
			}
		})
	}
	slices.Sort(ids)
	return ids, nil
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
	s := Stats{Active: int64(j.halves[j.active].used), Appended: j.appended}
	for i := range j.halves {
		s.Records += j.halves[i].records
		s.Bytes += int64(j.halves[i].used)
	}
	s.Oldest = cmp.Or(j.inactive().since, j.halves[j.active].since)
	return s
}

// Close releases the file and the memory. Pending records stay in the file. There must be
// no checkpoint meanwhile.
func (j *Journal) Close() error {
	j.appending.Lock()
	defer j.appending.Unlock()
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := range j.halves {
		j.halves[i].close()
	}
	return j.file.Close()
}
