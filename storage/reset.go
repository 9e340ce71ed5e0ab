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
	if err := s.stopIfFatal(s.features.Stage(ctx, seed)); err != nil {
		return err
	}
	s.committing.Lock() // between two batches
	defer s.committing.Unlock()
	if err := s.accepting(); err != nil {
		return err
	}
	return s.stopIfFatal(callEngine(s.replace))
}

// replace replaces the plants, and records that.
func (s *Store) replace() error {
	if err := s.auditReady(); err != nil {
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
	return noPanic("audit log", ErrUnrecorded, s.recorder.RecordReset)
}
