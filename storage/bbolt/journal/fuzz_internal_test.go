package journal

import (
	"errors"
	"maps"
	"slices"
	"testing"
)

// FuzzOpen patches a journal with pending batches in both halves and remains behind
// them. Each patch is an offset of 3 bytes, a length, and as many bytes. If seal is
// set, each block that begins with a batch gets the checksums that fit it: replay of
// wrong numbers then returns an error, or records that can be read.
func FuzzOpen(f *testing.F) {
	h := newHistory(f, 12)
	patch := func(at, n int, b byte) []byte {
		head := []byte{byte(at & 0xff), byte(at >> 8 & 0xff), byte(at >> 16 & 0xff), byte(n & 0xff)}
		return append(head, slices.Repeat([]byte{b}, n)...)
	}
	f.Add([]byte{}, false)
	f.Add(patch(0, fileHeadLen, 0), false)
	f.Add(patch(saltAt, 1, 9), true)
	last := h.batches[len(h.batches)-1].at
	for _, b := range []int{h.batches[0].at, h.batches[1].at, last} {
		for _, at := range []int{0, payloadSumAt, sequenceAt, lengthAt, countAt, batchHeadLen, batchHeadLen + 8} {
			for _, v := range []byte{0, 1, 255} {
				f.Add(patch(b+at, 1, v), true)
				f.Add(patch(b+at, 4, v), true)
				f.Add(patch(b+at, 4, v), false)
			}
		}
	}
	f.Add(append(patch(h.batches[2].at, 200, 7), patch(last+sector, 200, 7)...), false)
	f.Fuzz(func(t *testing.T, patches []byte, seal bool) {
		content := slices.Clone(h.content)
		for len(patches) >= 4 {
			at := (int(patches[0]) | int(patches[1])<<8 | int(patches[2])<<16) % len(content)
			n := min(int(patches[3]), len(patches)-4)
			copy(content[at:], patches[4:4+n])
			patches = patches[4+n:]
		}
		if !seal {
			h.check(t, content, 0)
			return
		}
		for _, b := range h.batches {
			sealBatch(content[b.at:], h.state.Salt)
		}
		content = sealed(content, func([]byte) {})
		readAll(t, content, h.state)
	})
}

// readAll uses a journal in all ways, if it can be opened. The result must be the same after
// another Open.
func readAll(t *testing.T, content []byte, state State) {
	t.Helper()
	d := diskOf(content)
	j, err := open(d, state, true)
	if err != nil {
		return
	}
	all := contents(j)
	if len(all) != j.Stats().Records {
		t.Fatalf("%d ids, %d records", len(all), j.Stats().Records)
	}
	for id := int64(1 << 40); ; id++ { // an id that is not pending
		if _, found := j.Get(id); found {
			continue
		}
		err := j.Append([]Record{{id, []byte("more")}})
		if err == nil {
			all[id] = "more"
		} else if !errors.Is(err, ErrFull) {
			t.Fatal(err)
		}
		break
	}
	again, err := open(d.restarted(), state, false)
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(all, contents(again)) {
		t.Fatal("another content after the second Open")
	}
	j.Freeze()
	for part := range j.Checkpoint(state, 3) {
		for _, r := range part.Records {
			if string(r.Value) != all[r.ID] {
				t.Fatalf("record %d has another value", r.ID)
			}
		}
	}
}
