package journal

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The offsets of the fields of a header.
const (
	versionAt = len(magic)
	sizeAt    = versionAt + 4
	saltAt    = sizeAt + 8
)

const sector = 512

var errDisk = errors.New("input/output error")

// A disk is a file in memory, with a cache before it as operating systems have one.
// A write reaches the cache; Sync copies all later writes to the disk.
type disk struct {
	cache, durable []byte
	dirty          map[int]bool // sectors

	writes []int  // of the next writes: how many bytes reach the cache before it fails; -1: all
	syncs  []bool // of the next syncs: whether it fails
}

func (d *disk) ReadAt(b []byte, at int64) (int, error) {
	if at >= int64(len(d.cache)) {
		return 0, io.EOF
	}
	n := copy(b, d.cache[at:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (d *disk) WriteAt(b []byte, at int64) (n int, err error) {
	n = len(b)
	if len(d.writes) > 0 {
		if d.writes[0] >= 0 {
			n, err = min(n, d.writes[0]), errDisk
		}
		d.writes = d.writes[1:]
	}
	copy(d.cache[at:], b[:n])
	for i := int(at) / sector; i*sector < int(at)+n; i++ {
		d.dirty[i] = true
	}
	return n, err
}

// Sync drops the writes if it fails, as Linux does: the cache keeps them and the disk does
// not get them.
func (d *disk) Sync() error {
	defer clear(d.dirty)
	if len(d.syncs) > 0 {
		failed := d.syncs[0]
		d.syncs = d.syncs[1:]
		if failed {
			return errDisk
		}
	}
	for i := range d.dirty {
		copy(d.durable[i*sector:], d.cache[i*sector:(i+1)*sector])
	}
	return nil
}

func (d *disk) Close() error { return nil }

// diskOf returns a disk with that content.
func diskOf(content []byte) *disk {
	return &disk{cache: slices.Clone(content), durable: slices.Clone(content), dirty: map[int]bool{}}
}

// blank returns the content of a journal without batches, with halves of that many
// blocks.
func blank(blocks int) ([]byte, State) {
	h := header{Version: version, Half: uint64(blocks) * Block, Salt: Salt{1, 2, 3, 4}} //nolint:gosec // not negative
	copy(h.Magic[:], magic)
	b := make([]byte, h.size())
	copy(b, h.encode())
	return b, State{Salt: h.Salt}
}

// restarted returns a disk as a new process finds it.
func (d *disk) restarted() *disk { return diskOf(d.cache) }

// lost returns a disk as it is after a power failure: each sector that differs between
// cache and disk is from either.
func (d *disk) lost(random *rand.Rand) *disk {
	after := slices.Clone(d.durable)
	keep := random.Float64()
	for at := 0; at < len(after); at += sector {
		if random.Float64() < keep {
			copy(after[at:at+sector], d.cache[at:])
		}
	}
	return diskOf(after)
}

// mustOpen opens the journal on d until the test ends.
func mustOpen(t testing.TB, d *disk, state State) *Journal {
	t.Helper()
	j, err := open(d, state, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// checkpoint applies the records of a half to a database in that state, and returns its
// state after that.
func checkpoint(j *Journal, state State) State {
	j.Freeze()
	for part := range j.Checkpoint(state, 100) {
		state = part.State
	}
	return state
}

// begin returns the first record of a checkpoint, and breaks it off.
func begin(j *Journal, state State) Part {
	j.Freeze()
	for part := range j.Checkpoint(state, 1) {
		return part
	}
	return Part{State: state}
}

// contents returns the pending records.
func contents(j *Journal) map[int64]string {
	return with(nil, j.Pending(math.MinInt64))
}

// batchOf returns records with the given ids and random values of up to size bytes.
func batchOf(random *rand.Rand, size int, ids ...int64) []Record {
	records := make([]Record, len(ids))
	for i, id := range ids {
		value := fmt.Appendf(nil, "%d:", id)
		for range random.IntN(size + 1) {
			value = append(value, byte(random.Uint32()&0xff))
		}
		records[i] = Record{id, value}
	}
	return records
}

// with returns a copy of all with records added.
func with(all map[int64]string, records []Record) map[int64]string {
	all = maps.Clone(all)
	if all == nil {
		all = map[int64]string{}
	}
	for _, r := range records {
		all[r.ID] = string(r.Value)
	}
	return all
}
