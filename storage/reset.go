package storage

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"time"
)

// recordResetTime limits the time to record a reset, during which no create is recorded.
const recordResetTime = 5 * time.Second

// Reset replaces all plants by those of seed, which ascend in id. A create happens
// completely before the reset or completely after it: one that has returned nil before
// is gone, one that begins after it finds the seed. A list that a reset interrupts
// ends with [ErrUnavailable].
//
// It returns [ErrNotEphemeral] unless the store was opened with [Options.Ephemeral]. After
// any other error nothing has changed, but for [ErrResetUnrecorded], and [ErrUnknown].
func (s *Store) Reset(ctx context.Context, seed iter.Seq2[Record, error]) error {
	if s.features.Stage == nil {
		return ErrNotEphemeral
	}
	s.resetting.Lock()
	defer s.resetting.Unlock()
	if err := s.stopIfFatal(s.features.Stage(ctx, seed)); err != nil {
		return err
	}
	if s.recorder == nil {
		return s.replace()
	}
	// The creates before the reset are recorded before it.
	s.recording.Lock()
	defer s.recording.Unlock()
	if err := s.recorder.Ready(); err != nil {
		return err
	}
	if err := s.replace(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordResetTime)
	defer cancel()
	if err := s.recorder.RecordReset(ctx); err != nil {
		return fmt.Errorf("%w: %s", ErrResetUnrecorded, strings.TrimPrefix(err.Error(), ErrUnrecorded.Error()+": "))
	}
	return nil
}

// replace has a writer replace the plants, between two batches. It waits for as long as
// that takes.
func (s *Store) replace() error {
	r := newRequest()
	r.task, r.bytes = s.features.Replace, s.limits.BatchBytes+1 // of this size it goes alone
	if err := s.enqueueBatch(r); err != nil {
		return err
	}
	err := <-r.done
	if err == nil {
		s.meter.resets.Add(1)
	}
	return err
}
