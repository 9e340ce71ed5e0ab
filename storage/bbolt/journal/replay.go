package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"
)

// Errors of [Open], in addition to [ErrCorrupt].
var (
	// ErrForeign: the journal belongs to another database.
	ErrForeign = errors.New("the journal belongs to another database")
	// ErrStale: the journal and the database are from different moments: one of
	// them is an older copy.
	ErrStale = errors.New("the journal and the database are from different moments")
)

// Open opens the journal in file for a database in that state, and makes all records
// pending that the database lacks. It changes nothing in the file. The Journal closes
// file, also if Open fails.
func Open(file *os.File, state State) (*Journal, error) {
	return open(&dataFile{File: file}, state)
}

func open(file file, state State) (*Journal, error) {
	j := &Journal{file: file}
	if err := j.replay(state); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal) replay(state State) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	h, err := readHeader(j.file)
	if err != nil {
		return err
	}
	if info, err := j.file.Stat(); err != nil {
		return err
	} else if info.Size() < h.size() {
		return fmt.Errorf("%w: it is cut short, from %d bytes to %d", ErrCorrupt, h.size(), info.Size())
	}
	if h.Salt != state.Salt {
		return ErrForeign
	}
	j.salt = h.Salt
	mapped, err := j.file.Map(h.size())
	if err != nil {
		return err
	}
	for i := range j.halves {
		at := Block + i*int(h.Half)                                                       //nolint:gosec // at most MaxSize
		if j.halves[i], err = newHalf(int64(at), mapped[at:at+int(h.Half)]); err != nil { //nolint:gosec // at most MaxSize
			return err
		}
	}
	batches, err := j.scan(state)
	if err != nil {
		return err
	}
	return j.load(batches, state)
}

// scan returns the valid batches that the database has not applied, in the order of their
// numbers. It makes the half active that does not contain the last batch applied: [Open] needs
// that batch to check that journal and database are of the same moment, so the next append must
// not overwrite it.
func (j *Journal) scan(state State) (batches []batch, err error) {
	last := uint64(0)
	for i := range j.halves {
		h := &j.halves[i]
		for at, next := 0, Block; at < len(h.bytes); at, next = next, next+Block {
			b, ok := decodeBatch(h.bytes[at:], j.salt, len(h.bytes)-at)
			if !ok {
				continue
			}
			b.half, b.at = i, at
			if b.sequence <= state.Applied {
				if b.sequence > last {
					last, j.active = b.sequence, 1-i
				}
				continue
			}
			if b.valid(h.bytes[at:b.end()], j.salt) {
				batches = append(batches, b)
				next = b.end()
			}
		}
	}
	slices.SortFunc(batches, func(a, b batch) int { return cmp.Compare(a.sequence, b.sequence) })
	for i, b := range batches {
		if want := state.Applied + 1 + uint64(i); b.sequence != want {
			return nil, fmt.Errorf("%w: batch %d is missing or corrupt, and batch %d is there", ErrCorrupt, want, b.sequence)
		}
	}
	if len(batches) > 0 {
		last = batches[len(batches)-1].sequence
	}
	if known := max(state.Applied, state.Through); last < known {
		return nil, fmt.Errorf("%w: the database has records of batch %d, the journal has none after batch %d", ErrStale, known, last)
	}
	return batches, nil
}

// load makes the records of batches pending that the database lacks. A checkpoint applies
// all of a half, so that the first batch is at the beginning of its half. The batch with the
// highest number is in the active half, unless a checkpoint of that half is under way: it
// stays frozen, because a [State] describes one checkpoint of one half.
func (j *Journal) load(batches []batch, state State) error {
	j.sequence = state.Applied
	for i, b := range batches {
		h := &j.halves[b.half]
		if i == 0 {
			j.active = b.half
		}
		if b.half != j.active && !j.turn() || b.at != h.used {
			return fmt.Errorf("%w: batch %d does not follow the one before it", ErrCorrupt, b.sequence)
		}
		if err := j.index(b, state); err != nil {
			return err
		}
		j.sequence = b.sequence
		if b.sequence == state.Through && !j.turn() {
			return fmt.Errorf("%w: the database has part of batch %d, but not all before it", ErrStale, b.sequence)
		}
	}
	return nil
}

// index adds the records of a batch to the index of its half.
func (j *Journal) index(b batch, state State) error {
	malformed := fmt.Errorf("%w: the records of batch %d do not fit it, or are pending already", ErrCorrupt, b.sequence)
	h := &j.halves[b.half]
	at, end := b.at+batchHeadLen, b.at+batchHeadLen+b.length
	for range b.count {
		r, next, ok := recordAt(h.bytes, at, end)
		if !ok {
			return malformed
		}
		if !state.applied(b.sequence, r.ID) {
			if _, twice := j.find(r.ID); twice || h.records == h.maxRecords() {
				return malformed
			}
			h.insert(r.ID, at)
		}
		at = next
	}
	if at != end {
		return malformed
	}
	h.extend(b.sequence, b.end(), time.Now())
	return nil
}

// Rewrite writes all pending batches again, and syncs them. It must be called before the first
// Append. After a sync that failed, the cache of the operating system may have blocks that the
// disk lacks; without Rewrite a power failure could undo a batch that was already served.
func (j *Journal) Rewrite() (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	for i := range j.halves {
		h := &j.halves[i]
		at := h.at
		err := h.batches(j.salt, func(batch []byte) error { // the cache may have read it again since Open
			n, err := j.file.WriteAt(batch, at)
			at += int64(n)
			return err
		})
		if err != nil {
			return err
		}
	}
	return j.file.Sync()
}
