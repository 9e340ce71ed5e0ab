package journal

import (
	"encoding/binary"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A placed is a batch and where it is in the file.
type placed struct {
	at, size int
	sequence uint64
	records  []Record
}

// A history is a journal with pending batches in both halves, followed by remains of applied
// ones.
type history struct {
	content  []byte
	previous []byte // of the generation before
	state    State
	batches  []placed
}

// fill appends batches until the next one does not fit into the half.
func fill(t testing.TB, j *Journal, random *rand.Rand, id *int64) (batches []placed) {
	t.Helper()
	for {
		ids := make([]int64, 1+random.IntN(4))
		for i := range ids {
			*id++
			ids[i] = *id * 7919 % 1000003
		}
		records := batchOf(random, []int{40, 700, 5000}[random.IntN(3)], ids...)
		if int64(Size(records)) > j.halfSize-j.halves[j.active].used {
			return batches
		}
		if err := j.Append(records); err != nil {
			t.Fatal(err)
		}
		h := j.halves[j.active]
		batches = append(batches, placed{int(h.at+h.used) - Size(records), Size(records), h.last, records})
	}
}

// newHistory returns a history with halves of that many blocks.
func newHistory(t testing.TB, blocks int) history {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	content, state := blank(blocks)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	id := int64(0)
	for range 2 {
		fill(t, j, random, &id)
		state = checkpoint(j, state)
	}
	h := history{previous: slices.Clone(d.durable), state: state}
	h.batches = fill(t, j, random, &id)
	begin(j, state)
	last := fill(t, j, random, &id)
	h.batches = append(h.batches, last[:len(last)-2]...)
	h.content = d.durable
	for i := last[len(last)-2].at; i < len(h.content); i++ { // as if the last two had not been
		h.content[i] = h.previous[i]
	}
	return h
}

// all returns the records of the first n batches.
func (h history) all(n int) map[int64]string {
	all := map[int64]string{}
	for _, b := range h.batches[:n] {
		all = with(all, b.records)
	}
	return all
}

// check opens content: it must be refused, or have the records of all batches or of at least the
// first n.
func (h history) check(t *testing.T, content []byte, n int, context ...any) {
	t.Helper()
	j, err := open(diskOf(content), h.state, false)
	if errors.Is(err, ErrCorrupt) || errors.Is(err, ErrStale) {
		return
	}
	if err != nil {
		t.Fatal(append(context, err)...)
	}
	got := contents(j)
	for ; n <= len(h.batches); n++ {
		if maps.Equal(got, h.all(n)) {
			return
		}
	}
	t.Fatal(append(context, "the records are not a prefix of the batches:", cmp.Diff(h.all(len(h.batches)), got))...)
}

// TestEverySectorCorrupt corrupts each sector of the file in turn.
func TestEverySectorCorrupt(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 24)
	if diff := cmp.Diff(h.all(len(h.batches)), contents(mustOpen(t, diskOf(h.content), h.state))); diff != "" || len(h.batches) < 15 {
		t.Fatalf("%d batches, intact: %s", len(h.batches), diff)
	}
	random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // repeatable
	last := h.batches[len(h.batches)-1]
	for name, corrupt := range map[string]func(b []byte, at int){
		"flipped":  func(b []byte, _ int) { b[random.IntN(len(b))] ^= 1 << random.IntN(8) },
		"first":    func(b []byte, _ int) { b[random.IntN(batchHeadLen)] ^= 1 << random.IntN(8) },
		"zero":     func(b []byte, _ int) { clear(b) },
		"previous": func(b []byte, at int) { copy(b, h.previous[at:]) },
		"random": func(b []byte, _ int) {
			for i := range b {
				b[i] = byte(random.Uint32() & 0xff)
			}
		},
		"block before": func(b []byte, at int) { copy(b, h.content[at-Block:at-Block+sector]) },
	} {
		for at := Block; at < len(h.content); at += sector {
			content := slices.Clone(h.content)
			corrupt(content[at:at+sector], at)
			n := len(h.batches)
			if at >= last.at && at < last.at+last.size {
				n--
			}
			h.check(t, content, n, name, at)
		}
	}
}

// TestEveryBatchCorrupt corrupts the header and the last byte of each batch: the corruption of
// all but the last batch must be detected.
func TestEveryBatchCorrupt(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 24)
	for i, b := range h.batches {
		end := batchHeadLen
		for _, r := range b.records {
			end += recordHeadLen + len(r.Value)
		}
		for _, at := range []int{0, 4, 8, 16, 20, 23, batchHeadLen, end - 1} {
			content := slices.Clone(h.content)
			content[b.at+at] ^= 0x40
			j, err := open(diskOf(content), h.state, false)
			if i < len(h.batches)-1 {
				if !errors.Is(err, ErrCorrupt) {
					t.Fatalf("byte %d of batch %d: %v", at, b.sequence, err)
				}
			} else if err != nil {
				t.Fatal(err)
			} else if diff := cmp.Diff(h.all(i), contents(j)); diff != "" {
				t.Error(diff)
			}
		}
	}
}

// TestPartOfCheckpoint corrupts the last batch, of which the database has a part
// already: it was durable, so that this cannot be a torn write.
func TestPartOfCheckpoint(t *testing.T) {
	t.Parallel()
	content, state := blank(20)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	for _, id := range []int64{3, 1, 2} {
		if err := j.Append(valueOf(id, 1)); err != nil {
			t.Fatal(err)
		}
	}
	state = begin(j, state).State
	mustOpen(t, d.restarted(), state)
	d.cache[Block+2*Block] ^= 1
	if _, err := open(d.restarted(), state, false); !errors.Is(err, ErrStale) {
		t.Error(err)
	}
}

// TestOtherMoments opens each journal of a long history with each state of the history. It must
// be refused, or database and journal together must have all records that were appended until
// the later of the two.
func TestOtherMoments(t *testing.T) {
	t.Parallel()
	content, state := blank(24)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // repeatable
	type moment struct {
		content      []byte
		state        State
		stored, have map[int64]string
	}
	now := moment{state: state, stored: map[int64]string{}, have: map[int64]string{}}
	var moments []moment
	for id := int64(1); id < 60; id++ {
		records := batchOf(random, 6000, id*7919%10007, id*7919%10007+20000)
		if err := j.Append(records); err != nil {
			t.Fatal(err)
		}
		now.have = with(now.have, records)
		if id%4 == 0 {
			j.Freeze()
			for part := range j.Checkpoint(now.state, 2+random.IntN(7)) {
				now.stored = with(now.stored, part.Records)
				now.state = part.State
				now.content = slices.Clone(d.durable)
				moments = append(moments, now)
			}
		}
		now.content = slices.Clone(d.durable)
		moments = append(moments, now)
	}
	right := 0
	for i, file := range moments {
		for k, database := range moments {
			j, err := open(diskOf(file.content), database.state, false)
			if err != nil {
				if !errors.Is(err, ErrStale) && !errors.Is(err, ErrCorrupt) || i == k {
					t.Fatalf("journal of moment %d, database of %d: %v", i, k, err)
				}
				continue
			}
			got := contents(j)
			maps.Copy(got, database.stored)
			if diff := cmp.Diff(file.have, got); diff != "" {
				t.Fatalf("journal of moment %d, database of %d (-want +got):\n%.1000s", i, k, diff)
			}
			right++
		}
	}
	if right < 2*len(moments) {
		t.Errorf("%d pairs of %d were accepted", right, len(moments)*len(moments))
	}
}

// sealed returns content with a changed header and a correct checksum.
func sealed(content []byte, change func(b []byte)) []byte {
	content = slices.Clone(content)
	change(content)
	binary.LittleEndian.PutUint32(content[fileSumAt:], checksum(Salt{}, content[:fileSumAt]))
	return content
}

// TestHeader opens journals with a wrong header, corrupt or with a correct checksum.
func TestHeader(t *testing.T) {
	t.Parallel()
	h := newHistory(t, 10)
	for at := range fileHeadLen {
		for bit := range 8 {
			content := slices.Clone(h.content)
			content[at] ^= 1 << bit
			if _, err := open(diskOf(content), h.state, false); !errors.Is(err, ErrCorrupt) {
				t.Fatalf("bit %d of byte %d: %v", bit, at, err)
			}
		}
	}
	for _, half := range []uint64{0, 1, Block - 1, Block + 1, MaxSize, 1 << 40, 1 << 63, 1<<64 - Block} {
		content := sealed(h.content, func(b []byte) { binary.LittleEndian.PutUint64(b[sizeAt:], half) })
		if _, err := open(diskOf(content), h.state, false); !errors.Is(err, ErrCorrupt) {
			t.Errorf("half of %d bytes: %v", half, err)
		}
	}
	newer := sealed(h.content, func(b []byte) { b[versionAt]++ })
	if _, err := open(diskOf(newer), h.state, false); err == nil || errors.Is(err, ErrCorrupt) || !strings.Contains(err.Error(), "version 2") {
		t.Errorf("newer version: %v", err)
	}
	foreign := sealed(h.content, func(b []byte) { b[saltAt]++ })
	if _, err := open(diskOf(foreign), h.state, false); !errors.Is(err, ErrForeign) {
		t.Errorf("another salt: %v", err)
	}
	h.state.Salt[0]++ // the halves are those of another journal
	if _, err := open(diskOf(foreign), h.state, false); !errors.Is(err, ErrStale) {
		t.Errorf("batches with another salt: %v", err)
	}
	if n := mustOpen(t, diskOf(foreign), State{Salt: h.state.Salt}).Stats().Records; n != 0 {
		t.Errorf("%d records of another journal", n)
	}
}
