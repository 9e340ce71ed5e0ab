package journal

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
)

// onHeap moves the memory of j to the Go heap: the race detector does not check memory
// outside it.
func onHeap(j *Journal) {
	for i := range j.halves {
		h := &j.halves[i]
		slots := slices.Clone(h.slots)
		release(h.slots)
		h.slots = slots
	}
}

// A traffic runs appends, reads and checkpoints concurrently.
type traffic struct {
	*testing.T

	journal  *Journal
	appended atomic.Int64 // ids below this are durable
	stored   atomic.Int64 // ids below this are in the database
	full     chan struct{}
}

const lastID = 1500

func (c *traffic) append() {
	defer close(c.full)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	for id := int64(0); id < lastID; {
		records := batchOf(random, 200, id, id+1, id+2)
		err := c.journal.Append(records)
		if errors.Is(err, ErrFull) {
			c.full <- struct{}{}
			continue
		}
		if err != nil {
			c.Error(err)
			return
		}
		id += int64(len(records))
		c.appended.Store(id)
		if id%97 == 0 {
			c.full <- struct{}{}
		}
	}
}

// checkpoint applies a half whenever the journal is full, and sometimes before.
func (c *traffic) checkpoint() {
	for range c.full {
		c.journal.Freeze()
		for part, err := range c.journal.Checkpoint(State{}, 50) {
			if err != nil {
				c.Error(err)
				return
			}
			c.stored.Store(part.Records[len(part.Records)-1].ID + 1)
		}
	}
}

// read searches for records: a durable record is pending, unless it is stored.
func (c *traffic) read(random *rand.Rand) {
	for {
		appended := c.appended.Load()
		if appended == lastID || c.Failed() {
			return
		}
		id := random.Int64N(appended + 2)
		value, found, err := c.journal.Get(id)
		if err != nil {
			c.Error(err)
			return
		}
		if !found && id < appended && id >= c.stored.Load() {
			c.Errorf("%d is lost", id)
		}
		if prefix := fmt.Sprintf("%d:", id); found && string(value[:len(prefix)]) != prefix {
			c.Errorf("%d has value %q", id, value)
		}
		ids, err := c.journal.IDs(math.MinInt64)
		if err != nil {
			c.Error(err)
			return
		}
		if stored := c.stored.Load(); !slices.IsSorted(ids) || len(ids) > 0 && (ids[0] > stored || ids[len(ids)-1] < appended-1 && stored < appended) {
			c.Errorf("ids from %d to %d, though %d are stored, and %d were appended", ids[0], ids[len(ids)-1], stored, appended)
		}
		if s, half := c.journal.Stats(), int64(c.journal.MaxBatch()); s.Active > half || s.Bytes > 2*half || s.Records > lastID {
			c.Errorf("%+v", s)
		}
		_ = c.journal.Frozen()
	}
}

func TestConcurrent(t *testing.T) {
	t.Parallel()
	content, state := blank(40)
	c := &traffic{T: t, journal: mustOpen(t, diskOf(content), state), full: make(chan struct{})}
	onHeap(c.journal)
	var wg sync.WaitGroup
	wg.Go(c.append)
	wg.Go(c.checkpoint)
	for seed := range uint64(3) {
		wg.Go(func() { c.read(rand.New(rand.NewPCG(seed, 0))) }) //nolint:gosec // repeatable
	}
	wg.Wait()
	if n := c.appended.Load(); n != lastID || c.stored.Load() == 0 {
		t.Errorf("%d ids appended, %d stored", n, c.stored.Load())
	}
}

// TestConcurrentClose closes the journal while it is used.
func TestConcurrentClose(t *testing.T) {
	t.Parallel()
	content, state := blank(40)
	j := mustOpen(t, diskOf(content), state)
	onHeap(j)
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // repeatable
	var wg sync.WaitGroup
	begun := make(chan struct{})
	wg.Go(func() {
		for id := int64(0); j.Append(batchOf(random, 20, id)) == nil; id++ {
			if id == 3 {
				close(begun)
			}
		}
	})
	wg.Go(func() {
		for j.MaxBatch() > 0 {
			_, _, _ = j.Get(1)
			_, _ = j.IDs(2)
		}
	})
	<-begun
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	wg.Wait()
	_, found, _ := j.Get(1)
	ids, _ := j.IDs(math.MinInt64)
	if found || len(ids) > 0 || begin(j, state).Done > 0 || j.MaxBatch() != 0 {
		t.Error("a closed journal has records")
	}
}

// TestClosed checks that the state of a closed journal differs from the state after a
// checkpoint.
func TestClosed(t *testing.T) {
	t.Parallel()
	for _, frozen := range []bool{false, true} {
		content, state := blank(40)
		j := mustOpen(t, diskOf(content), state)
		if err := j.Append([]Record{{ID: 1}}); err != nil {
			t.Fatal(err)
		}
		if frozen {
			begin(j, state)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if part := begin(j, state); part.Done > 0 {
			t.Errorf("a closed journal has a frozen half: %+v", part)
		}
		if err := j.Append([]Record{{ID: 2}}); err == nil {
			t.Error("append to a closed journal")
		}
	}
}
