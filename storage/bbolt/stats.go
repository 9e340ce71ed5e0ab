package bbolt

import (
	"context"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

// FileStats implements [storage.FileStatter].
func (e *Engine) FileStats() storage.FileStats {
	stats := storage.FileStats{Plants: e.plants.Load(), Replayed: e.replayed, Size: e.size.Load(), Free: freeSpace(e.file)}
	if e.hasJournal() {
		pending := e.journal.Stats()
		stats.Journal = &storage.JournalStats{
			Plants: int64(pending.Records), Bytes: pending.Bytes, Oldest: pending.Oldest,
			Checkpoints: e.checkpoints.Load(), CheckpointTime: time.Duration(e.checkpointTime.Load()),
		}
	}
	return stats
}

// Count implements [storage.Counter].
func (e *Engine) Count(ctx context.Context) (int64, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if !e.writable() {
		return e.countPlants()
	}
	err := e.view(func(*bolt.Bucket) error { return nil }) // whether it is open
	return e.plants.Load(), err
}

// countPlants returns the number of plants in the tree and in the journal. If an
// earlier version has stored no number in the bucket, it counts them.
func (e *Engine) countPlants() (n int64, err error) {
	err = e.view(func(plants *bolt.Bucket) error {
		n = countTree(plants) + int64(e.journal.Stats().Records)
		return nil
	})
	return n, err
}
