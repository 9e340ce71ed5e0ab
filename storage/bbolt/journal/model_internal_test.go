package journal

import (
	"errors"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// A model is a journal with its expected contents.
type model struct {
	disk    *disk
	journal *Journal
	state   State            // of the database, which survives everything
	applied map[int64]string // in the database
	acked   map[int64]string // all records of batches that are durable

	pending map[int64]string // expected in the journal
	half    []int64          // ids of the frozen half that are applied
	random  *rand.Rand
}

func (m *model) open(t *rapid.T, d *disk, writable bool) {
	_ = m.journal.Close()
	j, err := open(d, m.state, writable)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	m.disk, m.journal, m.half = d, j, nil
	m.pending = maps.Clone(m.acked)
	for id := range m.applied {
		delete(m.pending, id)
	}
}

// batch returns records with ids that were never used.
func (m *model) batch(t *rapid.T) []Record {
	var ids []int64
	for _, id := range rapid.SliceOfNDistinct(rapid.Int64Range(-400, 400), 0, 6, rapid.ID).Draw(t, "ids") {
		if _, used := m.acked[id]; !used {
			ids = append(ids, id)
		}
	}
	records := batchOf(m.random, rapid.SampledFrom([]int{0, 30, 4000, 12000}).Draw(t, "size"), ids...)
	for Size(records) > m.journal.MaxBatch() {
		records = records[1:]
	}
	return records
}

func (m *model) append(t *rapid.T) {
	records := m.batch(t)
	err := m.journal.Append(records)
	if errors.Is(err, ErrFull) && m.journal.Frozen() {
		return
	}
	if err != nil {
		t.Fatalf("append: %v", err)
	}
	m.acked, m.pending = with(m.acked, records), with(m.pending, records)
}

// apply applies some parts of a checkpoint, or all of them.
func (m *model) apply(t *rapid.T) {
	most := rapid.IntRange(0, 4).Draw(t, "parts")
	begun := false
	m.journal.Freeze()
	for part := range m.journal.Checkpoint(m.state, rapid.IntRange(1, 8).Draw(t, "n")) {
		if begun = true; most == 0 { // as if the transaction had failed
			return
		}
		most--
		for _, r := range part.Records {
			if _, twice := m.applied[r.ID]; twice {
				t.Fatalf("%d is applied twice", r.ID)
			}
			m.applied[r.ID] = string(r.Value)
			m.half = append(m.half, r.ID)
		}
		m.state = part.State
		if part.Done == 1 {
			for _, id := range m.half {
				delete(m.pending, id)
			}
			m.half = nil
		}
	}
	if !begun && len(m.pending) > 0 {
		t.Fatal("no batch to freeze")
	}
}

func (m *model) restart(t *rapid.T) {
	m.open(t, m.disk.restarted(), rapid.Bool().Draw(t, "writable"))
}

// crash loses the power during an append.
func (m *model) crash(t *rapid.T) {
	records := m.batch(t)
	m.disk.syncs = []bool{true}
	// Writes that Sync drops are still in the cache, and some of them reach the disk.
	err := m.journal.Append(records)
	m.disk.syncs = nil
	if !errors.Is(err, ErrUnknown) && !errors.Is(err, ErrFull) {
		t.Fatalf("append: %v", err)
	}
	if errors.Is(err, ErrUnknown) && m.journal.Append(nil) == nil {
		t.Fatal("appended after an unknown outcome")
	}
	m.lose(t, records)
}

// fail lets the write of an append fail, and perhaps what revokes it, and loses the power.
func (m *model) fail(t *rapid.T) {
	records := m.batch(t)
	m.disk.writes = rapid.SampledFrom([][]int{{0}, {100}, {5000}, {100000}, {5000, 0}}).Draw(t, "writes")
	m.disk.syncs = []bool{rapid.Bool().Draw(t, "sync")}
	unknown := len(m.disk.writes) > 1 || m.disk.syncs[0]
	err := m.journal.Append(records)
	m.disk.writes, m.disk.syncs = nil, nil
	switch {
	case errors.Is(err, ErrFull):
	case !errors.Is(err, errDisk) || errors.Is(err, ErrUnknown) != unknown:
		t.Fatalf("append: %v, want an unknown outcome: %t", err, unknown)
	case unknown:
		m.lose(t, records)
	default:
		m.lose(t, nil)
	}
}

// lose loses the power. The records may be pending after that, or not.
func (m *model) lose(t *rapid.T, records []Record) {
	m.open(t, m.disk.lost(m.random), true)
	if all := with(m.pending, records); len(records) > 0 && cmp.Equal(all, contents(m.journal)) {
		m.acked, m.pending = with(m.acked, records), all
	}
}

// check compares the journal with the model.
func (m *model) check(t *rapid.T) {
	if diff := cmp.Diff(m.pending, contents(m.journal)); diff != "" {
		t.Fatalf("pending (-want +got):\n%.2000s", diff)
	}
	if n := m.journal.Stats().Records; n != len(m.pending) {
		t.Fatalf("Stats has %d records, not %d", n, len(m.pending))
	}
}

// TestModel runs all operations of a journal in random order, with power failures at any time.
func TestModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		content, state := blank(rapid.SampledFrom([]int{10, 24, 80}).Draw(t, "blocks"))
		m := &model{state: state, journal: &Journal{file: diskOf(nil)}, random: rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))} //nolint:gosec // repeatable
		m.applied, m.acked = map[int64]string{}, map[int64]string{}
		m.open(t, diskOf(content), true)
		defer func() { _ = m.journal.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"append": m.append, "append more": m.append, "append again": m.append,
			"apply": m.apply, "restart": m.restart, "crash": m.crash, "fail": m.fail,
			"": m.check,
		})
	})
}
