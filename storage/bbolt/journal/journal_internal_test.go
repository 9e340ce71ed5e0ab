package journal

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// valueOf returns one record, whose batch takes that many blocks.
func valueOf(id int64, blocks int) []Record {
	return []Record{{id, slices.Repeat([]byte{byte(id)}, blocks*Block-batchHeadLen-recordHeadLen)}} //nolint:gosec // any byte will do
}

// TestFile appends to a file, and opens it again.
func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	salt, err := Format(file, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != FileSize(1<<20) || info.Size() > 1<<20 || !IsJournal(file) {
		t.Fatalf("%d bytes, %v", info.Size(), err)
	}
	all := map[int64]string{}
	for id := int64(1); id < 5; id++ {
		j, err := Open(file, State{Salt: salt}, true)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(all, contents(j)); diff != "" {
			t.Fatal(diff)
		}
		records := []Record{{id, []byte("fern")}, {-id, nil}}
		if err := errors.Join(j.Append(records), j.Close()); err != nil {
			t.Fatal(err)
		}
		all = with(all, records)
		if file, err = os.OpenFile(path, os.O_RDWR, 0); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestPending(t *testing.T) {
	t.Parallel()
	content, state := blank(10)
	j := mustOpen(t, diskOf(content), state)
	ids := []int64{math.MinInt64, -7, -1, 0, 3, 1 << 40, math.MaxInt64}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	for _, i := range random.Perm(len(ids)) {
		if err := j.Append(batchOf(random, 10, ids[i])); err != nil {
			t.Fatal(err)
		}
		if i == 3 {
			j.Freeze()
		}
	}
	for i, from := range ids {
		var got []int64
		for _, r := range j.Pending(from) {
			got = append(got, r.ID)
		}
		if !slices.Equal(got, ids[i:]) {
			t.Errorf("from %d: %d", from, got)
		}
	}
}

// TestPendingMeanwhile reads the pending records while the second half of a new journal becomes
// active. The race detector finds it if they share that half.
func TestPendingMeanwhile(t *testing.T) {
	t.Parallel()
	content, state := blank(10)
	for range 20 {
		j := mustOpen(t, diskOf(content), state)
		reading := make(chan struct{})
		var reader sync.WaitGroup
		reader.Go(func() {
			for n := 0; n < 2; n = len(j.Pending(math.MinInt64)) {
				if n == 1 {
					select {
					case <-reading:
					default:
						close(reading)
					}
				}
			}
		})
		if err := j.Append(valueOf(1, 1)); err != nil {
			t.Fatal(err)
		}
		<-reading
		j.Freeze()
		if err := j.Append(valueOf(2, 1)); err != nil {
			t.Fatal(err)
		}
		reader.Wait()
	}
}

// TestTooLarge appends a batch that does not fit into a half.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	content, state := blank(10)
	j := mustOpen(t, diskOf(content), state)
	if err := j.Append(valueOf(1, 1)); err != nil {
		t.Fatal(err)
	}
	large := valueOf(2, 10)
	large[0].Value = append(large[0].Value, 0)
	if err := j.Append(large); err == nil || errors.Is(err, ErrFull) || errors.Is(err, ErrUnknown) || j.Frozen() {
		t.Errorf("a batch above MaxBatch: %v, frozen: %t", err, j.Frozen())
	}
	if err := j.Append(valueOf(2, 10)); err != nil || j.Stats().Records != 2 {
		t.Errorf("a batch of MaxBatch: %v, %+v", err, j.Stats())
	}
}

// TestTornAfterCheckpoint loses the power during the first append after a checkpoint and a restart.
// It must not overwrite the last batch applied, which shows that the journal is of this moment.
func TestTornAfterCheckpoint(t *testing.T) {
	t.Parallel()
	content, state := blank(10)
	d := diskOf(content)
	for id := range int64(6) {
		j := mustOpen(t, d, state)
		if err := j.Append(valueOf(id, 3)); err != nil {
			t.Fatal(err)
		}
		state = checkpoint(j, state)
		j = mustOpen(t, d.restarted(), state)
		if err := j.Append(valueOf(-id, 3)); err != nil {
			t.Fatal(err)
		}
		d = j.file.(*disk).restarted() //nolint:forcetypeassert // of mustOpen
		d.cache[j.halves[j.active].at+Block]++
	}
	if n := len(contents(mustOpen(t, d, state))); n != 0 {
		t.Errorf("%d records of a torn batch", n)
	}
}

// TestNoCheckpointAfterUnknown lets a sync fail. The batch may be in the file, behind that of a
// record that is pending, so there must be no checkpoint of that half: the next one opened has both.
func TestNoCheckpointAfterUnknown(t *testing.T) {
	t.Parallel()
	content, state := blank(10)
	d := diskOf(content)
	j := mustOpen(t, d, state)
	d.syncs = []bool{false, true}
	if err := errors.Join(j.Append(valueOf(1, 1)), j.Append(valueOf(2, 1))); !errors.Is(err, ErrUnknown) {
		t.Fatal(err)
	}
	state = checkpoint(j, state)
	if n := len(contents(mustOpen(t, d.restarted(), state))); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
}
