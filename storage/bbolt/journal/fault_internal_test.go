package journal

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A stage is a journal with a few pending batches and remains of applied ones behind
// them, and a batch that is to be appended.
type stage struct {
	history
	disk    *disk
	journal *Journal
	before  map[int64]string
	batch   []Record
}

func newStage(t testing.TB, random *rand.Rand, h history) stage {
	t.Helper()
	s := stage{history: h, disk: diskOf(h.content), before: h.all(len(h.batches))}
	s.journal = mustOpen(t, s.disk, h.state)
	s.batch = batchOf(random, 3000, -1, -2, -3)
	if h := s.journal.halves[s.journal.active]; !h.fits(Size(s.batch), 3) {
		t.Fatal("no space")
	}
	return s
}

// images returns the possible contents of the file after the process, or the machine, has
// ended.
func (s stage) images(random *rand.Rand) []*disk {
	images := []*disk{s.disk.restarted(), diskOf(s.disk.durable)}
	for range 8 {
		images = append(images, s.disk.lost(random))
	}
	return images
}

// outcomes opens all images, and returns how many have the batch; the others have
// no part of it. The records of each have to survive a power failure after Rewrite.
func (s stage) outcomes(t *testing.T, random *rand.Rand) (with, without int) {
	t.Helper()
	all := s.all(len(s.batches))
	for _, r := range s.batch {
		all[r.ID] = string(r.Value)
	}
	for _, d := range s.images(random) {
		j := mustOpen(t, d, s.state)
		got := contents(j)
		switch {
		case maps.Equal(got, all):
			with++
		case maps.Equal(got, s.before):
			without++
		default:
			t.Fatalf("part of the batch is there:\n%s", cmp.Diff(s.before, got))
		}
		if err := j.Rewrite(); err != nil {
			t.Fatal(err)
		}
		if again := contents(mustOpen(t, diskOf(d.durable), s.state)); !maps.Equal(got, again) {
			t.Fatalf("lost after Rewrite:\n%s", cmp.Diff(got, again))
		}
		_ = j.Close()
	}
	return with, without
}

// TestWriteFails fails the write of a batch after each number of bytes. The batch is
// revoked, and the journal continues.
func TestWriteFails(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	h := newHistory(t, 10)
	size := 1
	for n := 0; n <= size; n += 100 {
		s := newStage(t, random, h)
		size = Size(s.batch)
		s.disk.writes = []int{n}
		err := s.journal.Append(s.batch)
		if !errors.Is(err, errDisk) || errors.Is(err, ErrUnknown) {
			t.Fatalf("%d bytes written: %v", n, err)
		}
		if diff := cmp.Diff(s.before, contents(s.journal)); diff != "" {
			t.Fatal(diff)
		}
		if with, _ := s.outcomes(t, random); with > 0 {
			t.Fatalf("%d bytes written: the batch was revoked, and is there in %d images", n, with)
		}
		short := s.batch[:1] // its remains are behind it
		if err := s.journal.Append(short); err != nil {
			t.Fatal(err)
		}
		got := contents(mustOpen(t, diskOf(s.disk.durable), s.state))
		if diff := cmp.Diff(with(s.before, short), got); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestOutcomeUnknown makes a sync fail, or the revocation after a failed write.
func TestOutcomeUnknown(t *testing.T) {
	t.Parallel()
	const all = -1
	h := newHistory(t, 10)
	for name, fault := range map[string]struct {
		writes []int
		syncs  []bool
	}{
		"sync":                        {nil, []bool{true}},
		"write, revocation":           {[]int{1 << 20, 0}, nil},
		"write, part of revocation":   {[]int{1 << 20, 7}, nil},
		"part, revocation":            {[]int{Block, 0}, nil},
		"write, sync of revocation":   {[]int{1 << 20, all}, []bool{true}},
		"part, revocation and a sync": {[]int{2 * Block, 0}, []bool{true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(3, 4)) //nolint:gosec // repeatable
			s := newStage(t, random, h)
			s.disk.writes, s.disk.syncs = fault.writes, fault.syncs
			if err := s.journal.Append(s.batch); !errors.Is(err, ErrUnknown) || !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
			s.outcomes(t, random)
			if err := s.journal.Append(s.batch[:1]); err == nil || errors.Is(err, ErrUnknown) {
				t.Errorf("the next append: %v", err)
			}
			if diff := cmp.Diff(s.before, contents(s.journal)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSyncFails checks both outcomes of a failed sync: a process that restarts finds the batch
// in the cache, and the disk has no part of it.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // repeatable
	s := newStage(t, random, newHistory(t, 10))
	s.disk.syncs = []bool{true}
	_ = s.journal.Append(s.batch)
	if with, without := s.outcomes(t, random); with == 0 || without == 0 {
		t.Errorf("in %d images the batch is there, in %d it is not", with, without)
	}
}

// TestRewriteFails makes each step of Rewrite fail.
func TestRewriteFails(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(5, 6)) //nolint:gosec // repeatable
	h := newHistory(t, 10)
	for _, fault := range []disk{{writes: []int{0}}, {writes: []int{-1, 5000}}, {syncs: []bool{true}}} {
		s := newStage(t, random, h)
		s.disk.writes, s.disk.syncs = fault.writes, fault.syncs
		if err := s.journal.Rewrite(); !errors.Is(err, errDisk) {
			t.Error(err)
		}
		if with, _ := s.outcomes(t, random); with > 0 {
			t.Error("a batch that was not appended")
		}
	}
}

// TestSynced has a power failure after each append: unsynced writes are lost.
func TestSynced(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8)) //nolint:gosec // repeatable
	content, state := blank(10)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	all := map[int64]string{}
	for id := range int64(8) {
		records := batchOf(random, 3000, id, -id-1)
		if err := j.Append(records); err != nil {
			t.Fatal(err)
		}
		all = with(all, records)
		if diff := cmp.Diff(all, contents(mustOpen(t, diskOf(d.durable), state))); diff != "" {
			t.Fatal(diff)
		}
	}
}

// TestTornAfterRestart tears the first append after a restart without pending records: the
// journal must not be refused as stale.
func TestTornAfterRestart(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(9, 10)) //nolint:gosec // repeatable
	content, state := blank(10)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	for id := range int64(3) {
		if err := j.Append(batchOf(random, 10, id)); err != nil {
			t.Fatal(err)
		}
	}
	state = checkpoint(j, state)
	for at := 0; at < 8*Block; at += sector {
		torn := d.restarted()
		j := mustOpen(t, torn, state)
		torn.syncs = []bool{true}
		if err := j.Append([]Record{{9, make([]byte, 7*Block)}}); !errors.Is(err, ErrUnknown) {
			t.Fatal(err)
		}
		for half := range 2 { // only one sector has reached the disk
			after := diskOf(torn.durable)
			start := Block + half*10*Block + at
			copy(after.cache[start:start+sector], torn.cache[start:])
			_ = mustOpen(t, after, state).Close()
			copy(after.cache[start:], torn.cache[start:start+8*Block-at]) // and all behind it
			_ = mustOpen(t, after, state).Close()
		}
		_ = j.Close()
	}
}

// TestCheckpointAfterUnknown begins a checkpoint after a sync has failed, and ends it
// early: the journal still opens, with the batch in question behind it or not.
func TestCheckpointAfterUnknown(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(11, 12)) //nolint:gosec // repeatable
	content, state := blank(10)
	s := stage{disk: diskOf(content)}
	s.journal = mustOpen(t, s.disk, state)
	if err := s.journal.Append(batchOf(random, 10, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	s.disk.syncs = []bool{true}
	if err := s.journal.Append(batchOf(random, 10, 4)); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	state = begin(s.journal, state).State
	for _, d := range s.images(random) {
		if n := len(contents(mustOpen(t, d, state))); n < 2 {
			t.Errorf("%d records are pending", n)
		}
	}
}
