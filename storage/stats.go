package storage

import (
	"sync/atomic"
	"time"

	"plantstore/internal/meter"
)

// An Observable is a [Store] that tells what it has counted since it was opened.
// Every engine is one.
type Observable interface {
	// Stats returns the counts of this moment. It is cheap, whatever is stored,
	// and asks nobody on another machine.
	Stats() Stats
}

// Stats are what a store has counted.
type Stats struct {
	Group GroupStats
	// File is about the file in which the plants are, nil if there is none on
	// this machine.
	File *FileStats
}

// GroupStats are what a [GroupCommit] has counted, and what it holds now.
type GroupStats struct {
	// QueuedCreates wait for a commit, with QueuedBytes of names and tags. A
	// batch of CreateAll is one of them. At most QueueLimit may.
	QueuedCreates, QueuedBytes, QueueLimit int
	// Created is the number of plants that were stored.
	Created uint64
	// FailedCommits is the number of commits that stored nothing, or of which
	// that is not known.
	FailedCommits uint64
	// FailedAt is when the last commit failed, zero if it did not.
	FailedAt time.Time
	// CommitPlants is how many plants commits had, and CommitTime how long they
	// took, in nanoseconds, all attempts included.
	CommitPlants, CommitTime meter.Distribution
}

// FileStats are about a file of plants and its file system.
type FileStats struct {
	// Plants is the number of plants in it.
	Plants int64
	// Size is that of the file in bytes.
	Size int64
	// Free is how many bytes its file system has left for this process,
	// negative if that is not known.
	Free int64
	// ReadOnly is true if the file system takes no writes at present.
	ReadOnly bool
	Scrub    ScrubStats
}

// ScrubStats are what a store has found that reads its records again and again.
type ScrubStats struct {
	// Records and Damaged are the numbers of records that were read, and of
	// those among them that are damaged, each time that they were found.
	Records, Damaged uint64
	// LastPass is when all records had last been read, zero if they never were,
	// and LastDamaged how many of them were damaged then.
	LastPass    time.Time
	LastDamaged uint64
}

// groupMeter counts for a [GroupCommit].
type groupMeter struct {
	created, failed atomic.Uint64
	failedAt        atomic.Int64 // Unix time in nanoseconds; 0 if the last commit did not fail
	plants, took    *meter.Histogram
}

func newGroupMeter() groupMeter {
	return groupMeter{
		plants: meter.NewHistogram(1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000),
		took:   meter.Durations(),
	}
}

// committed counts a commit of items that began at start and returned err.
func (m *groupMeter) committed(items []Item, start time.Time, err error) {
	m.plants.Observe(int64(len(items)))
	m.took.Observe(int64(time.Since(start)))
	if err != nil {
		m.failed.Add(1)
		m.failedAt.Store(time.Now().UnixNano())
		return
	}
	m.failedAt.Store(0)
	created := uint64(0)
	for i := range items {
		if items[i].Existing == nil && items[i].Err == nil {
			created++
		}
	}
	m.created.Add(created)
}

// Stats returns what has been counted so far.
func (g *GroupCommit) Stats() GroupStats {
	s := GroupStats{
		QueueLimit:    g.limits.QueuePlants,
		Created:       g.meter.created.Load(),
		FailedCommits: g.meter.failed.Load(),
		CommitPlants:  g.meter.plants.Read(),
		CommitTime:    g.meter.took.Read(),
	}
	if at := g.meter.failedAt.Load(); at != 0 {
		s.FailedAt = time.Unix(0, at)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s.QueuedCreates, s.QueuedBytes = len(g.queue), g.bytes
	return s
}
