package journal

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forged returns a value that, as the first value of a batch, looks like a batch at each block
// boundary, except for the salt.
func forged(blocks, length int, sequence uint64) []byte {
	value := make([]byte, blocks*Block)
	fake := make([]byte, Block)
	encodeBatch(fake, Salt{}, sequence, []Record{{ID: 666, Value: []byte("forged")}})
	binary.LittleEndian.PutUint32(fake[lengthAt:], uint32(length)) //nolint:gosec // small
	binary.LittleEndian.PutUint32(fake, checksum(Salt{}, fake[payloadSumAt:batchHeadLen]))
	for at := Block - batchHeadLen - recordHeadLen; at < len(value); at += Block {
		copy(value[at:], fake)
	}
	return value
}

// TestForgedBatches stores values that look like batches, in blocks that replay examines:
// remains behind a shorter batch, and a torn batch.
func TestForgedBatches(t *testing.T) {
	t.Parallel()
	for _, sequence := range []uint64{1, 2, 3, 4} {
		for _, length := range []int{recordHeadLen + 6, 15 * Block} {
			content, state := blank(20)
			d := diskOf(content)
			j := mustOpen(t, d, state)
			value := forged(18, length, sequence)
			if err := j.Append([]Record{{1, value}}); err != nil {
				t.Fatal(err)
			}
			all := map[int64]string{1: string(value)}
			if got := contents(mustOpen(t, d.restarted(), state)); !maps.Equal(got, all) {
				t.Fatal("another value")
			}
			torn := d.restarted()
			torn.cache[Block] ^= 1 // of the header
			if n := len(contents(mustOpen(t, torn, state))); n != 0 {
				t.Fatalf("%d records of a torn batch", n)
			}
			torn.cache[Block] ^= 1
			torn.cache[Block+17*Block] ^= 1 // of the payload
			if n := len(contents(mustOpen(t, torn, state))); n != 0 {
				t.Fatalf("%d records of a torn batch", n)
			}
			state = checkpoint(j, state)
			for id := range int64(2) { // the second one is short, and where the value was
				if err := j.Append([]Record{{id, []byte("short")}}); err != nil {
					t.Fatal(err)
				}
				if id == 0 {
					state = checkpoint(j, state)
				} else {
					begin(j, state)
				}
			}
			got := contents(mustOpen(t, d.restarted(), state))
			if diff := cmp.Diff(map[int64]string{1: "short"}, got); diff != "" {
				t.Fatal(diff)
			}
		}
	}
}

// TestForgedValues opens journals whose values look like batches: they are never taken for
// one, also not in a torn batch.
func TestForgedValues(t *testing.T) {
	t.Parallel()
	const blocks = 200
	content, state := blank(blocks)
	value := forged(blocks-1, 100*Block, 2)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	if err := j.Append([]Record{{1, value}}); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		corrupt func(b []byte)
		records int
	}{
		"intact": {func([]byte) {}, 1},
		"header": {func(b []byte) { b[Block]++ }, 0},
		"value":  {func(b []byte) { b[2*Block-1]++ }, 0},
	} {
		again := d.restarted()
		test.corrupt(again.cache)
		if n := mustOpen(t, again, state).Stats().Records; n != test.records {
			t.Errorf("%s: %d records", name, n)
		}
	}
}

// TestImpossibleBatches opens journals with batches that no Append writes, with correct
// checksums.
func TestImpossibleBatches(t *testing.T) {
	t.Parallel()
	content, state := blank(20)
	write := func(block int, sequence uint64, change func(b []byte), records ...Record) func(b []byte) {
		return func(content []byte) {
			b := content[Block+block*Block:][:Size(records)]
			encodeBatch(b, state.Salt, sequence, records)
			if change != nil {
				change(b)
				length := int(binary.LittleEndian.Uint32(b[lengthAt:]))
				binary.LittleEndian.PutUint32(b[payloadSumAt:], checksum(state.Salt, b[batchHeadLen:][:length]))
				binary.LittleEndian.PutUint32(b, checksum(state.Salt, b[payloadSumAt:batchHeadLen]))
			}
		}
	}
	fern := Record{1, []byte("fern")}
	put := func(at int, v uint32) func(b []byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	for name, writes := range map[string][]func(b []byte){
		"too many records":          {write(0, 1, put(countAt, 1<<32-1), fern)},
		"too few records":           {write(0, 1, put(countAt, 0), fern)},
		"a value that is too long":  {write(0, 1, put(batchHeadLen+8, 1<<32-1), fern)},
		"a byte more":               {write(0, 1, put(lengthAt, recordHeadLen+5), fern)},
		"an id twice":               {write(0, 1, nil, fern, fern)},
		"an id in both halves":      {write(0, 1, nil, fern), write(20, 2, nil, fern)},
		"a batch twice":             {write(0, 1, nil, fern), write(20, 1, nil, fern)},
		"unused blocks":             {write(0, 1, nil, fern), write(2, 2, nil, Record{ID: 2})},
		"unused blocks at first":    {write(0, 1, nil, fern), write(21, 2, nil, Record{ID: 2})},
		"a batch before the first":  {write(1, 1, nil, fern), write(0, 2, nil, Record{ID: 2})},
		"three turns of the halves": {write(0, 1, nil, fern), write(20, 2, nil, Record{ID: 2}), write(1, 3, nil, Record{ID: 3})},
		"a gap":                     {write(0, 1, nil, fern), write(1, 3, nil, Record{ID: 2})},
		"no first":                  {write(0, 2, nil, fern)},
		"blocks before the first":   {write(1, 1, nil, fern)},
	} {
		image := slices.Clone(content)
		for _, w := range writes {
			w(image)
		}
		if _, err := open(diskOf(image), state); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, length := range []uint32{19*Block + Block - batchHeadLen + 1, 1 << 31, 1<<32 - 1} { // as if torn
		image := slices.Clone(content)
		b := image[Block : 2*Block]
		encodeBatch(b, state.Salt, 1, []Record{fern})
		binary.LittleEndian.PutUint32(b[lengthAt:], length)
		binary.LittleEndian.PutUint32(b, checksum(state.Salt, b[payloadSumAt:batchHeadLen]))
		if n := len(contents(mustOpen(t, diskOf(image), state))); n != 0 {
			t.Errorf("a payload of %d bytes: %d records", length, n)
		}
	}
}
