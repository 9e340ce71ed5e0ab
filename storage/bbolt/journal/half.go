package journal

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"math/bits"
	"runtime/debug"
	"slices"
	"time"
)

// A half is one of the two regions that batches are written to, with an index of its records:
// a hash table with linear probing, whose slots hold the offset of a record, or 0. The index is
// outside the Go heap, so that the garbage collector neither scans it nor counts it in the size
// of the heap.
type half struct {
	at    int64  // offset of the half in the file
	bytes []byte // mapped
	slots []byte // uint32 each
	seed  maphash.Seed

	used    int // bytes, of whole blocks
	records int // in the index
	since   time.Time
	last    uint64   // number of the last batch
	count   uint64   // of batches
	sorted  []uint32 // offsets of the records of a frozen half in ascending order of id, nil until a checkpoint begins
}

// slotLen is the size of a slot in bytes.
const slotLen = 4

// bytesPerSlot bounds the index: a record has more bytes than this, unless its value
// is nearly empty, so that three quarters of the slots are hardly ever in use.
const bytesPerSlot = 16

// newHalf returns a half that must be closed, also after an error.
func newHalf(at int64, bytes []byte) (h half, err error) {
	h = half{at: at, bytes: bytes, seed: maphash.MakeSeed()}
	h.slots, err = allocate(slotLen << bits.Len(uint(len(bytes)/bytesPerSlot-1)))
	return h, err
}

// close releases the memory. The half is unusable then.
func (h *half) close() {
	release(h.slots)
	*h = half{}
}

// fits reports whether a batch with that many bytes and records fits into the half.
func (h *half) fits(size, records int) bool {
	return size <= len(h.bytes)-h.used && h.records+records <= h.maxRecords()
}

// maxRecords returns the maximum number of records in the index: three quarters of its slots, so
// that probing ends soon.
func (h *half) maxRecords() int { return len(h.slots) / slotLen / 4 * 3 }

// slotOf returns the first slot of id. Clients choose ids: without a secret seed, they
// could choose many with one slot, and each look-up would probe them all.
func (h *half) slotOf(id int64) int {
	slots := uint64(len(h.slots) / slotLen)                  // a power of two
	return int(maphash.Comparable(h.seed, id) & (slots - 1)) //nolint:gosec // less than the slots
}

func (h *half) slot(i int) int { return int(binary.LittleEndian.Uint32(h.slots[i*slotLen:])) }

// find returns the record of id.
func (h *half) find(id int64) (Record, bool) {
	if h.records == 0 {
		return Record{}, false
	}
	for i := h.slotOf(id); ; i = (i + 1) % (len(h.slots) / slotLen) {
		at := h.slot(i)
		if at == 0 {
			return Record{}, false
		}
		if r, _, ok := recordAt(h.bytes, at, len(h.bytes)); ok && r.ID == id {
			return r, true
		}
	}
}

// insert adds the record of id, which is at the offset at and not in the index.
func (h *half) insert(id int64, at int) {
	i := h.slotOf(id)
	for h.slot(i) != 0 {
		i = (i + 1) % (len(h.slots) / slotLen)
	}
	binary.LittleEndian.PutUint32(h.slots[i*slotLen:], uint32(at)) //nolint:gosec // within the half
	h.records++
}

// extend makes a batch, which ends at the offset end, the last one of the half.
func (h *half) extend(sequence uint64, end int, now time.Time) {
	if h.used == 0 {
		h.since = now
	}
	h.last, h.used = sequence, end
	h.count++
}

// all calls yield with each record, in no order.
func (h *half) all(yield func(id int64, at int)) {
	if h.records == 0 {
		return
	}
	for i := range len(h.slots) / slotLen {
		if at := h.slot(i); at != 0 {
			yield(h.id(at), at)
		}
	}
}

// id returns the id of the record at an offset.
func (h *half) id(at int) int64 { return int64(binary.LittleEndian.Uint64(h.bytes[at:])) } //nolint:gosec // the bits are meant

// missing returns the offsets of the records in a frozen half that a database in that state
// lacks, in ascending order of id.
func (h *half) missing(state State, salt Salt) (left []uint32, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	if err := h.batches(salt, func([]byte) error { return nil }); err != nil {
		return nil, err
	}
	if h.sorted == nil {
		h.sorted = make([]uint32, 0, h.records)
		h.all(func(_ int64, at int) { h.sorted = append(h.sorted, uint32(at)) }) //nolint:gosec // within the half
		slices.SortFunc(h.sorted, func(a, b uint32) int { return cmp.Compare(h.id(int(a)), h.id(int(b))) })
	}
	left = h.sorted
	if state.Through == h.last {
		first, _ := slices.BinarySearchFunc(left, state.Next, func(at uint32, id int64) int { return cmp.Compare(h.id(int(at)), id) })
		left = left[first:]
	}
	return left, nil
}

// read returns copies of the records at offsets.
func (h *half) read(offsets []uint32) (records []Record, err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer catchFault(&err)
	var memory []byte // of all values
	for _, at := range offsets {
		r, _, ok := recordAt(h.bytes, int(at), len(h.bytes))
		if !ok {
			return nil, errChanged
		}
		start := len(memory)
		memory = append(memory, r.Value...)
		r.Value = memory[start:]
		records = append(records, r)
	}
	return records, nil
}

// errChanged is [ErrCorrupt] for a half that is not as it was written.
var errChanged = fmt.Errorf("%w: it has changed since it was written", ErrCorrupt)

// batches calls yield with a copy of each batch. It returns errChanged unless the half has
// exactly the batches that were written: a page that never reached the disk may have an earlier
// batch in it, with valid checksums.
func (h *half) batches(salt Salt, yield func(batch []byte) error) error {
	var content []byte
	at, next := 0, h.last-h.count+1
	for ; at < h.used; next++ {
		b, ok := decodeBatch(h.bytes[at:], salt, len(h.bytes)-at)
		if !ok || b.sequence != next {
			return errChanged
		}
		content = append(content[:0], h.bytes[at:at+b.end()]...)
		if again, ok := decodeBatch(content, salt, len(h.bytes)-at); !ok || again != b || !b.valid(content, salt) {
			return errChanged
		}
		if err := yield(content); err != nil {
			return err
		}
		at += b.end()
	}
	if at != h.used || next != h.last+1 {
		return errChanged
	}
	return nil
}

// reset makes the half empty.
func (h *half) reset() {
	clear(h.slots)
	h.used, h.records, h.last, h.count, h.since, h.sorted = 0, 0, 0, 0, time.Time{}, nil
}
