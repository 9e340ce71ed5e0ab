package storage

import (
	"cmp"
	"fmt"
	"time"
)

// Ready returns nil while creates are accepted and the last commit has succeeded, otherwise the
// reason why not.
func (s *Store) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.refusal, s.failure)
}

// accepting returns nil while creates are accepted, else their error.
func (s *Store) accepting() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal
}

// probePause is the time from a failed commit to the empty batch that follows it.
const probePause = time.Second

// countCommit counts a commit and keeps its outcome for Ready. A commit in which all ids are
// taken may have written nothing, and does not count.
func (s *Store) countCommit(items []Item, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if len(items) > 0 {
			s.stats.FailedCommits++
		}
		s.failure = fmt.Errorf("%w: the last commit has failed: %w", ErrUnavailable, err)
		s.probing.Reset(probePause)
		return
	}
	created := uint64(0)
	for i := range items {
		if items[i].Err == nil && items[i].Existing == nil {
			created++
		}
	}
	s.stats.Created += created
	if created > 0 || len(items) == 0 {
		s.failure = nil
	}
}

// probe queues an empty batch, unless creates are queued, each second while the last commit has
// failed: a store that is not ready may get no creates.
func (s *Store) probe() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failure == nil || s.refusal != nil {
		return
	}
	if len(s.queue) == 0 {
		s.queue = append(s.queue, newRequest(nil))
		s.work.Signal()
	}
	s.probing.Reset(probePause)
}
