package storage

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"plantstore/models"
)

// commitNext commits the next batch of the queue, and gives back the token of the commit. It returns
// false if the queue is empty.
func (s *Store) commitNext() bool {
	defer func() { <-s.commits }()
	batch := s.nextBatch()
	if len(batch) > 0 {
		s.commit(batch)
	}
	return len(batch) > 0
}

// commit commits a batch, and sends the outcomes. Of creates with the same id only the first is
// tried; its outcome decides the others.
func (s *Store) commit(batch []*request) {
	if err := s.failStop.Refusal(); err != nil {
		for _, r := range batch {
			r.done <- err
		}
		return
	}
	creates := make([]*Item, 0, len(batch))
	for _, r := range batch {
		for i := range r.items {
			creates = append(creates, &r.items[i])
		}
	}
	slices.SortStableFunc(creates, func(a, b *Item) int { return cmp.Compare(a.ID, b.ID) })
	items := make([]Item, 0, len(creates))
	for i, c := range creates {
		if i == 0 || creates[i-1].ID != c.ID {
			items = append(items, *c)
		}
	}
	start := time.Now()
	err := s.guard(func() error { return s.engine.Commit(items) })
	if len(items) > 0 {
		s.observer(len(items), time.Since(start))
	}
	s.countCommit(items, err)
	tried := -1 // the item of the last create
	for i, c := range creates {
		first := i == 0 || creates[i-1].ID != c.ID
		if first {
			tried++
		}
		c.Err = items[tried].outcome(c.Plant, first, err)
	}
	for _, r := range batch {
		r.done <- nil // from here on the request belongs to its caller again
	}
}

// outcome returns the outcome of a create of plant after the commit of its id returned
// err. First is false for a later create of the same id, which was not tried.
func (i *Item) outcome(plant models.Plant, first bool, err error) error {
	switch {
	case i.Err != nil:
		return i.Err
	case i.Existing != nil: // Of an earlier commit, whatever the outcome of this one is.
		return &ExistsError{Stored: *i.Existing, Identical: i.Existing.Equal(plant)}
	case err != nil:
		return err
	case !first:
		return &ExistsError{Stored: i.Plant, Identical: i.Plant.Equal(plant)}
	}
	return nil
}

// probePause is the time from a failed commit to the empty batch that follows it.
const probePause = time.Second

// countCommit counts a commit and keeps its outcome for Ready. It has failed also if there was no
// space for one of the plants. A commit in which all ids are taken may have written nothing, and
// does not count. After [ErrNoSpace] only an empty batch makes the store ready: a create may fit
// into free pages.
func (s *Store) countCommit(items []Item, err error) {
	created, full := uint64(0), error(nil)
	for i := range items {
		switch item := &items[i]; {
		case err != nil || item.Existing != nil:
		case item.Err == nil:
			created++
		case errors.Is(item.Err, ErrNoSpace):
			full = item.Err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Created += created
	switch err = cmp.Or(err, full); {
	case err != nil:
		if len(items) > 0 {
			s.stats.FailedCommits++
		}
		s.failure = fmt.Errorf("%w: the last commit has failed: %w", ErrUnavailable, err)
		s.probing.Reset(probePause)
	case len(items) == 0 || created > 0 && !errors.Is(s.failure, ErrNoSpace):
		s.failure = nil
	}
}

// probe commits an empty batch each second while the store is not ready: it may get no creates. It
// waits for its turn among them.
func (s *Store) probe() {
	s.commits <- struct{}{}
	defer func() { <-s.commits }()
	if s.Ready() != nil && s.accepting() == nil {
		s.commit(nil)
	}
}
