package storage

import "time"

// Stats are the statistics of a store since it was opened.
type Stats struct {
	// QueuedCreates wait for a commit, with QueuedBytes of names and tags. Create is refused
	// while QueueLimit wait. A batch of CreateAll counts as one create, and is never refused.
	QueuedCreates, QueuedBytes, QueueLimit int
	// Created is the number of plants that were stored.
	Created uint64
	// Resets is the number of times that the plants were reset.
	Resets uint64
	// FailedCommits is the number of commits that failed, including those with an
	// unknown outcome.
	FailedCommits uint64
	// File is about the database file, nil if there is none on this machine.
	File *FileStats
}

// FileStats are statistics of a file of plants and its file system.
type FileStats struct {
	// Plants is the number of plants in it. Replayed of them were only in the journal when it
	// was opened: it had not been closed.
	Plants, Replayed int64
	// Size of the file in bytes.
	Size int64
	// Free is the space in bytes that its file system has left for this process,
	// negative if unknown.
	Free  int64
	Scrub ScrubStats
	// Journal is nil if the store has no journal.
	Journal *JournalStats
}

// JournalStats are about plants that are durable in a journal and not in the database
// file yet.
type JournalStats struct {
	// Plants is the number of pending plants, and Bytes how much of the journal
	// they use. Oldest is when the oldest was stored, zero if there is none.
	Plants, Bytes int64
	Oldest        time.Time
	// Checkpoints is the number of times that pending plants were moved to the
	// database file, and CheckpointTime their total duration, including pauses.
	Checkpoints    uint64
	CheckpointTime time.Duration
}

// ScrubStats are the findings of a store that re-reads all its records continuously.
type ScrubStats struct {
	// Records is the number of records that were read, and Corrupt the number of
	// corrupt ones among them. A record counts each time that it is read.
	Records, Corrupt uint64
	// LastPass is when the last pass through all records ended, zero if there was
	// none, and LastCorrupt the number of corrupt records that it found.
	LastPass    time.Time
	LastCorrupt uint64
}

// ObserveCommits makes the store call f after each commit of plants, with their number and its
// duration, all attempts included. It must be called before the first create.
func (s *Store) ObserveCommits(f func(plants int, took time.Duration)) { s.observer = f }

// Stats returns the current statistics. It is cheap for stores of any size, and needs no
// other machine.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	stats := s.stats
	stats.QueuedCreates, stats.QueuedBytes, stats.QueueLimit = len(s.queue), s.bytes, s.maxPlants
	s.mu.Unlock()
	if engine, ok := s.current().(FileStatter); ok {
		file := engine.FileStats()
		stats.File = &file
	}
	return stats
}
