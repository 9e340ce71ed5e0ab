package journal

import (
	"cmp"
	"errors"
	"fmt"
	"os"
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
// pending that the database lacks. Unless it is to be writable, Open changes nothing in the file.
// The Journal closes file, also if Open fails.
func Open(file *os.File, state State, writable bool) (*Journal, error) {
	return open(dataFile{file}, state, writable)
}

func open(file file, state State, writable bool) (*Journal, error) {
	j := &Journal{file: file}
	if err := j.replay(state, writable); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return j, nil
}

func (j *Journal) replay(state State, writable bool) error {
	h, err := readHeader(j.file)
	if err != nil {
		return err
	}
	if h.Salt != state.Salt {
		return ErrForeign
	}
	j.salt, j.halfSize = h.Salt, int64(h.Half) //nolint:gosec // at most MaxSize
	j.halves[0].at, j.halves[1].at = Block, Block+j.halfSize
	batches, err := j.scan(state)
	if err == nil {
		err = j.load(batches, state)
	}
	if err == nil && writable {
		err = j.rewrite(batches)
	}
	return err
}

// scan returns the valid batches that the database has not applied, in the order of their
// numbers. It makes the half active that does not contain the last batch applied: [Open] needs
// that batch to check that journal and database are of the same moment, so the next append must
// not overwrite it.
func (j *Journal) scan(state State) (batches []batch, err error) {
	last := uint64(0)
	for i := range j.halves {
		for at := int64(0); at < j.halfSize; at += Block {
			b, ok, err := j.read(i, at, state.Applied)
			switch {
			case err != nil:
				return nil, err
			case ok && b.sequence > state.Applied:
				batches = append(batches, b)
				at += int64(len(b.content)) - Block
			case ok && b.sequence > last:
				last, j.active = b.sequence, 1-i
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

// read reads the batch at an offset of a half, or only its header if its number is at most
// applied. It reports false if there is no valid batch.
func (j *Journal) read(half int, at int64, applied uint64) (b batch, ok bool, err error) {
	offset, head := j.halves[half].at+at, make([]byte, batchHeadLen)
	if err := readAt(j.file, head, offset); err != nil {
		return batch{}, false, err
	}
	if b, ok = decodeHeader(head, j.salt, j.halfSize-at); !ok || b.sequence <= applied {
		return b, ok, nil
	}
	b.half, b.at, b.content = half, at, make([]byte, roundUp(batchHeadLen+b.length))
	if err := readAt(j.file, b.content, offset); err != nil {
		return batch{}, false, err
	}
	return b, checksum(j.salt, b.payload()) == b.sum, nil
}

// load makes the records pending that the database lacks. A checkpoint applies all of a half,
// so that the first batch is at the beginning of its half. The batch with the highest number is
// in the active half, unless a checkpoint of that half is under way: it stays frozen, because a
// [State] describes one checkpoint of one half.
func (j *Journal) load(batches []batch, state State) error {
	j.sequence = state.Applied
	var counts, lengths [2]int
	for _, b := range batches {
		counts[b.half] += min(b.count, b.length/recordHeadLen)
		lengths[b.half] += b.length
	}
	for i, n := range counts { // of this size at once: growing takes as long as the rest
		j.halves[i].places = make(map[int64]place, n)
		j.halves[i].values = make([]byte, 0, lengths[i])
	}
	for i, b := range batches {
		h, other := &j.halves[b.half], &j.halves[1-b.half]
		if i == 0 {
			j.active = b.half
		}
		if b.half != j.active && !j.turn() || b.at != h.used {
			return fmt.Errorf("%w: batch %d does not follow the one before it", ErrCorrupt, b.sequence)
		}
		h.extend(b.sequence, len(b.content), time.Now())
		records, ok := b.records()
		for _, r := range records {
			if !state.applied(b.sequence, r.ID) {
				before := len(h.places)
				h.put(r)
				_, twice := other.places[r.ID]
				ok = ok && len(h.places) > before && !twice
			}
		}
		if !ok {
			return fmt.Errorf("%w: the records of batch %d do not fit it, or are pending already", ErrCorrupt, b.sequence)
		}
		j.sequence = b.sequence
		if b.sequence == state.Through && !j.turn() {
			return fmt.Errorf("%w: the database has part of batch %d, but not all before it", ErrStale, b.sequence)
		}
	}
	return nil
}

// rewrite writes all batches again, and syncs them: after a sync that failed, the cache of the
// operating system may have blocks that the disk lacks. Without this a power failure could undo a
// batch that was already served.
func (j *Journal) rewrite(batches []batch) error {
	for _, b := range batches {
		if _, err := j.file.WriteAt(b.content, j.halves[b.half].at+b.at); err != nil {
			return err
		}
	}
	return j.file.Sync()
}
