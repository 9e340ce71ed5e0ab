package journal

import (
	"encoding/binary"
	"errors"
	"maps"
	"slices"
	"testing"
)

// sealBatch gives the batch at the beginning of b the checksums that fit it.
func sealBatch(b []byte, salt Salt) {
	length := int64(binary.LittleEndian.Uint32(b[lengthAt:]))
	if end := batchHeadLen + length; end <= int64(len(b)) {
		binary.LittleEndian.PutUint32(b[payloadSumAt:], checksum(salt, b[batchHeadLen:end]))
	}
	binary.LittleEndian.PutUint32(b, checksum(salt, b[payloadSumAt:batchHeadLen]))
}

// forged returns a value that, as the first value of a batch, looks like a batch at each block
// boundary, except for the salt.
func forged(blocks, length int, sequence uint64) []byte {
	value := make([]byte, blocks*Block)
	fake := make([]byte, Block)
	encodeBatch(fake, Salt{}, sequence, []Record{{ID: 666, Value: []byte("forged")}})
	binary.LittleEndian.PutUint32(fake[lengthAt:], uint32(length)) //nolint:gosec // small
	sealBatch(fake, Salt{})
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
			if got := contents(mustOpen(t, d.restarted(), state)); !maps.Equal(got, map[int64]string{1: string(value)}) {
				t.Fatal("another value")
			}
			for _, at := range []int{0, 17 * Block} { // in the header and in the payload
				torn := d.restarted()
				torn.cache[Block+at] ^= 1
				if n := len(contents(mustOpen(t, torn, state))); n != 0 {
					t.Fatalf("%d records of a torn batch", n)
				}
			}
			state = checkpoint(j, state)
			for id := range int64(2) { // the second one is short, and where the value was
				if err := j.Append([]Record{{id, []byte("short")}}); err != nil {
					t.Fatal(err)
				}
				if id == 0 {
					state = checkpoint(j, state)
				}
			}
			if got := contents(mustOpen(t, d.restarted(), state)); !maps.Equal(got, map[int64]string{1: "short"}) {
				t.Fatalf("%d records", len(got))
			}
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
				sealBatch(b, state.Salt)
			}
		}
	}
	fern, oak := Record{1, []byte("fern")}, Record{ID: 2}
	put := func(at int, v uint32) func(b []byte) {
		return func(b []byte) { binary.LittleEndian.PutUint32(b[at:], v) }
	}
	type writes []func(b []byte)
	for name, test := range map[string]struct {
		writes writes
		want   error // nil: as if the batch was torn
	}{
		"too many records":          {writes{write(0, 1, put(countAt, 1<<32-1), fern)}, ErrCorrupt},
		"too few records":           {writes{write(0, 1, put(countAt, 0), fern)}, ErrCorrupt},
		"a value that is too long":  {writes{write(0, 1, put(batchHeadLen+8, 1<<32-1), fern)}, ErrCorrupt},
		"a byte more":               {writes{write(0, 1, put(lengthAt, recordHeadLen+5), fern)}, ErrCorrupt},
		"an id twice":               {writes{write(0, 1, nil, fern, fern)}, ErrCorrupt},
		"an id in both halves":      {writes{write(0, 1, nil, fern), write(20, 2, nil, fern)}, ErrCorrupt},
		"a batch twice":             {writes{write(0, 1, nil, fern), write(20, 1, nil, fern)}, ErrCorrupt},
		"unused blocks":             {writes{write(0, 1, nil, fern), write(2, 2, nil, oak)}, ErrCorrupt},
		"unused blocks at first":    {writes{write(0, 1, nil, fern), write(21, 2, nil, oak)}, ErrCorrupt},
		"a batch before the first":  {writes{write(1, 1, nil, fern), write(0, 2, nil, oak)}, ErrCorrupt},
		"three turns of the halves": {writes{write(0, 1, nil, fern), write(20, 2, nil, oak), write(1, 3, nil, Record{ID: 3})}, ErrCorrupt},
		"a gap":                     {writes{write(0, 1, nil, fern), write(1, 3, nil, oak)}, ErrCorrupt},
		"no first":                  {writes{write(0, 2, nil, fern)}, ErrCorrupt},
		"blocks before the first":   {writes{write(1, 1, nil, fern)}, ErrCorrupt},
		"beyond the half":           {writes{write(0, 1, put(lengthAt, 20*Block-batchHeadLen+1), fern)}, nil},
		"half of all bytes":         {writes{write(0, 1, put(lengthAt, 1<<31), fern)}, nil},
		"all bytes":                 {writes{write(0, 1, put(lengthAt, 1<<32-1), fern)}, nil},
	} {
		image := slices.Clone(content)
		for _, w := range test.writes {
			w(image)
		}
		j, err := open(diskOf(image), state, false)
		if !errors.Is(err, test.want) || err == nil && len(contents(j)) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}
