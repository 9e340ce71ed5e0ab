package storage

import (
	"context"
	"slices"
)

// A Recorder records the outcomes of creates, as an audit log does. Its methods may
// be called from any number of goroutines at once.
type Recorder interface {
	// Ready returns nil while outcomes can be recorded. Otherwise creates fail with
	// its error.
	Ready() error

	// Record records the outcome of a create of id on behalf of the [Actor] in ctx,
	// and returns nil when that is done or the outcome needs no record. Its error
	// matches [ErrUnrecorded]; a create that stored the plant gets it.
	Record(ctx context.Context, id int64, outcome error) error

	// RecordAll calls Record for each of the records with its outcome.
	RecordAll(ctx context.Context, records []Record, outcomes []error) error

	// RecordReset records that all plants were replaced by the seed.
	RecordReset(ctx context.Context) error

	// Close ends recording. The store calls it when no create is under way.
	Close() error
}

// RecordWith has the outcomes of all creates recorded by r, which Close closes. It
// must be called before the first create.
func (s *Store) RecordWith(r Recorder) { s.recorder = r }

// recorded records the outcome of a create and returns what the create returns.
func (s *Store) recorded(ctx context.Context, id int64, outcome error) error {
	if err := s.recorder.Record(ctx, id, outcome); outcome == nil {
		return err
	}
	return outcome
}

// recordedAll is recorded for each of the records.
func (s *Store) recordedAll(ctx context.Context, records []Record, outcomes []error) []error {
	err := s.recorder.RecordAll(ctx, records, outcomes)
	for i, outcome := range outcomes {
		if outcome == nil {
			outcomes[i] = err
		}
	}
	return outcomes
}

// closeRecorder closes the recorder after the creates that are under way.
func (s *Store) closeRecorder() error {
	if s.recorder == nil {
		return nil
	}
	s.recording.Lock()
	defer s.recording.Unlock()
	return s.recorder.Close()
}

// repeat returns n times err.
func repeat(err error, n int) []error { return slices.Repeat([]error{err}, n) }
