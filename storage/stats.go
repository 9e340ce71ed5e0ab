package storage

import "time"

// Stats are the statistics of a store since it was opened.
type Stats struct {
	// QueuedCreates wait for a commit, with QueuedBytes of names and tags. Create is refused
	// while QueueLimit wait. A batch of CreateAll counts as one create, and is never refused.
	QueuedCreates, QueuedBytes, QueueLimit int

	Created       uint64     // plants that were stored
	Resets        uint64     // of the plants
	FailedCommits uint64     // including those with an unknown outcome
	File          *FileStats // nil if there is no file on this machine
}

// FileStats are statistics of a file of plants.
type FileStats struct {
	Plants   int64         // in the file and its journal
	Replayed int64         // of them only in the journal when it was opened: it had not been closed
	Size     int64         // in bytes
	Free     int64         // bytes that the file system has left for this process, negative if unknown
	Journal  *JournalStats // nil without a journal
}

// JournalStats are about plants that are durable in a journal and not in the database
// file yet.
type JournalStats struct {
	Plants, Bytes  int64         // pending plants, and how much of the journal they use
	Oldest         time.Time     // when the oldest of them was stored, zero if there is none
	Checkpoints    uint64        // moves of pending plants to the database file
	CheckpointTime time.Duration // of all checkpoints, including pauses
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
