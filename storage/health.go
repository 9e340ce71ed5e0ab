package storage

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A trial, which is a commit of no plants, follows a failed commit after firstTrial,
// and each further one after twice the time of the last, up to lastTrial.
const (
	firstTrial = time.Second
	lastTrial  = 10 * time.Second
)

// A commitHealth is the state that the last commits have left.
type commitHealth struct {
	failure error         // ErrFailing with the error of the last commit; nil after a successful commit
	pause   time.Duration // before the last trial; 0 since a plant was stored
	trying  bool          // a trial is scheduled, or under way
}

// updateHealth counts a commit and records its outcome. After a failure the store is not ready, and
// trials detect when it is ready again: a store that is not ready may get no creates.
func (s *Store) updateHealth(items []Item, err error) {
	created, failure := createdOrFailed(items, err)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Created += created
	trial := len(items) == 0
	if trial {
		s.health.trying = false
	} else if err != nil {
		s.stats.FailedCommits++
	}
	switch {
	case failure != nil:
		s.health.failure = fmt.Errorf("%w: %w: %w", ErrUnavailable, ErrFailing, failure)
		if !s.health.trying {
			s.health.trying = true
			s.health.pause = min(max(2*s.health.pause, firstTrial), lastTrial)
			time.AfterFunc(s.health.pause, s.tryAgain)
		}
	case created > 0:
		s.health.failure, s.health.pause = nil, 0
	case trial:
		// A disk may have space for a trial and not for a plant: if the next create fails, the
		// next trial comes later.
		s.health.failure = nil
	}
}

// tryAgain commits a trial. Its outcome is not needed here, and a store that refuses it will
// never be ready again.
func (s *Store) tryAgain() {
	r := newRequest()
	r.bytes = s.features.BatchBytes + 1 // of this size it goes alone
	_ = s.submit(context.Background(), r)
}

// createdOrFailed returns the number of plants that a commit has stored, or why it could not
// store any. A batch without a new plant is neither.
func createdOrFailed(items []Item, err error) (created uint64, failure error) {
	if err != nil {
		return 0, err
	}
	for i := range items {
		switch item := &items[i]; {
		case item.Err == nil && item.Existing == nil:
			created++
		case errors.Is(item.Err, ErrNoSpace):
			failure = item.Err
		}
	}
	if created > 0 {
		return created, nil
	}
	return 0, failure
}
