package bbolt

import (
	"math"
	"path/filepath"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/storage"
)

var _ storage.Observable = (*Store)(nil)

// Stats is [storage.Observable].
func (s *Store) Stats() storage.Stats {
	file := &storage.FileStats{Plants: s.plants.Load(), Size: s.size.Load(), Scrub: s.scrubbed.read()}
	file.Free, file.ReadOnly = diskOf(filepath.Dir(s.file.Name()))
	return storage.Stats{Group: s.group.Stats(), File: file}
}

// number writes how many plants there will be after a commit that adds some. bbolt
// keeps the number in the page of the bucket that each commit writes anyway.
func (s *Store) number(plants *bolt.Bucket, added int) error {
	return plants.SetSequence(uint64(s.plants.Load()) + uint64(added)) //nolint:gosec // both count plants
}

// countPlants returns how many plants are stored. In a store that no commit has
// written the number to yet it counts them.
func (s *Store) countPlants() (n int64, err error) {
	err = s.view(func(plants *bolt.Bucket) error {
		if n = int64(min(plants.Sequence(), math.MaxInt64)); n > 0 {
			return nil
		}
		c := plants.Cursor()
		for key, _ := c.First(); key != nil; key, _ = c.Next() {
			n++
		}
		return nil
	})
	return n, err
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
