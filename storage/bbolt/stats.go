package bbolt

import (
	"context"
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// stats returns the statistics of the file.
func (e *Engine) stats() storage.FileStats {
	file := storage.FileStats{Plants: e.plants.Load(), Size: e.size.Load(), Scrub: e.scrubbed.read()}
	if e.journal != nil {
		file.Journal = e.journalStats()
	}
	file.Free, file.ReadOnly = diskOf(filepath.Dir(e.file.Name()))
	return file
}

// count is Count of [storage.Features].
func (e *Engine) count(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !e.writable() {
		return e.countPlants()
	}
	err := e.view(func(*bolt.Bucket) error { return nil }) // whether it is open
	return e.plants.Load(), err
}

// journalStats returns the statistics of the journal.
func (e *Engine) journalStats() *storage.JournalStats {
	pending := e.journal.Stats()
	return &storage.JournalStats{
		Plants: int64(pending.Records), Bytes: pending.Bytes, Oldest: pending.Oldest,
		Checkpoints: e.checkpoints.count.Load(), CheckpointTime: time.Duration(e.checkpoints.took.Load()),
	}
}

// A checkpointMeter counts checkpoints.
type checkpointMeter struct {
	count atomic.Uint64
	took  atomic.Int64 // nanoseconds, pauses included
}

// done counts a checkpoint that has taken so long.
func (m *checkpointMeter) done(took time.Duration) {
	m.count.Add(1)
	m.took.Add(int64(took))
}

// countPlants returns the number of plants in the tree and in the journal. If an
// earlier version has stored no number in the bucket, it counts them.
func (e *Engine) countPlants() (n int64, err error) {
	if e.journal != nil {
		defer func() { n += int64(e.journal.Stats().Records) }()
	}
	err = e.view(func(plants *bolt.Bucket) error {
		n = countTree(plants)
		return nil
	})
	return n, err
}

// countTree returns the number of plants in the bucket.
func countTree(plants *bolt.Bucket) (n int64) {
	if n = int64(min(plants.Sequence(), math.MaxInt64)); n > 0 {
		return n
	}
	c := plants.Cursor()
	for key, _ := c.First(); key != nil; key, _ = c.Next() {
		n++
	}
	return n
}

// A scrubMeter counts what the scrub finds.
type scrubMeter struct {
	records, damaged, lastDamaged atomic.Uint64
	lastPass                      atomic.Int64 // Unix time in nanoseconds; 0 if there was none
}

// page counts the records of a page.
func (m *scrubMeter) page(f found) {
	damaged := uint64(len(f.damage))
	m.records.Add(uint64(f.plants) + damaged) //nolint:gosec // it counts plants
	m.damaged.Add(damaged)
}

// pass notes the end of a pass that has found so many damaged records.
func (m *scrubMeter) pass(damaged int) {
	m.lastDamaged.Store(uint64(damaged)) //nolint:gosec // it counts records
	m.lastPass.Store(time.Now().UnixNano())
}

func (m *scrubMeter) read() storage.ScrubStats {
	s := storage.ScrubStats{Records: m.records.Load(), Damaged: m.damaged.Load(), LastDamaged: m.lastDamaged.Load()}
	if at := m.lastPass.Load(); at != 0 {
		s.LastPass = time.Unix(0, at)
	}
	return s
}
