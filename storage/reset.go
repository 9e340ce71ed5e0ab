package storage

import (
	"context"
	"iter"
)

// Reset replaces all plants by those of seed, which ascend in id. A create happens
// completely before the reset or completely after it: one that has returned nil before
// is gone, one that begins after it finds the seed. A list that a reset interrupts
// ends with [ErrUnavailable].
//
// It returns [ErrNotEphemeral] unless the store was opened with [Options.Ephemeral]. After
// any other error nothing has changed, but for [ErrUnrecorded], and [ErrUnknown].
func (s *Store) Reset(ctx context.Context, seed iter.Seq2[Record, error]) error {
	if !s.options.Ephemeral || s.features.Stage == nil {
		return ErrNotEphemeral
	}
	s.resetting.Lock()
	defer s.resetting.Unlock()
	if err := s.accepting(); err != nil {
		return err
	}
	stage := func() error { return s.features.Stage(ctx, seed) }
	if err := s.guard("engine", ErrUnknown, stage); err != nil {
		return err
	}
	s.committing.Lock() // between two batches
	defer s.committing.Unlock()
	if err := s.accepting(); err != nil {
		return err
	}
	return s.guard("engine", ErrUnknown, s.replace)
}

// replace replaces the plants, and records that.
func (s *Store) replace() error {
	if err := s.recorderReady(); err != nil {
		return err
	}
	if err := s.features.Replace(); err != nil {
		return err
	}
	s.mu.Lock()
	s.stats.Resets++
	s.mu.Unlock()
	if s.recorder == nil {
		return nil
	}
	return s.guard("audit log", ErrUnrecorded, s.recorder.RecordReset)
}
