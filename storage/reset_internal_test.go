package storage

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/models"
)

// A stalledRecorder records nothing before the deadline.
type stalledRecorder struct{ Recorder }

// Ready implements [Recorder].
func (stalledRecorder) Ready() error { return nil }

// Record implements [Recorder].
func (stalledRecorder) Record(context.Context, int64, error) error { return nil }

// RecordReset implements [Recorder].
func (stalledRecorder) RecordReset(ctx context.Context) error {
	<-ctx.Done()
	return ErrUnrecorded
}

// Close implements [Recorder].
func (stalledRecorder) Close() error { return nil }

// TestResetWithStalledRecorder checks that a reset that cannot be recorded ends, and creates
// and Close after it.
func TestResetWithStalledRecorder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := New(commitFunc{commit: func([]Item) error { return nil }}, Features{
			Stage:   func(context.Context, iter.Seq2[Record, error]) error { return nil },
			Replace: func() error { return nil },
		})
		s.RecordWith(stalledRecorder{})
		began := time.Now()
		if err := s.Reset(t.Context(), nil); !errors.Is(err, ErrResetUnrecorded) || errors.Is(err, ErrUnrecorded) {
			t.Errorf("Reset = %v, want %v", err, ErrResetUnrecorded)
		}
		if waited := time.Since(began); waited != recordResetTime {
			t.Errorf("Reset has waited %v for the recorder, want %v", waited, recordResetTime)
		}
		if err := s.Create(t.Context(), 1, models.Plant{}); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
