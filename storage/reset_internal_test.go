package storage

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"testing"

	"plantstore/models"
)

// A failingRecorder records nothing.
type failingRecorder struct{ Recorder }

// Ready implements [Recorder].
func (failingRecorder) Ready() error { return nil }

// Record implements [Recorder].
func (failingRecorder) Record([]Outcome) error { return nil }

// RecordReset implements [Recorder].
func (failingRecorder) RecordReset() error { return ErrUnrecorded }

// Close implements [Recorder].
func (failingRecorder) Close() error { return nil }

// TestUnrecordedReset checks the error of a reset that is not recorded, which has replaced the
// plants.
func TestUnrecordedReset(t *testing.T) {
	t.Parallel()
	replaced := 0
	s := New(commitFunc{commit: func([]Item) error { return nil }}, Features{
		Stage:   func(context.Context, iter.Seq2[Record, error]) error { return nil },
		Replace: func() error { replaced++; return nil },
	}, Options{Ephemeral: true})
	s.RecordWith(failingRecorder{})
	if err := s.Reset(t.Context(), nil); !errors.Is(err, ErrUnrecorded) || replaced != 1 {
		t.Errorf("Reset = %v after %d replacements, want %v after one", err, replaced, ErrUnrecorded)
	}
	if err := s.Create(t.Context(), 1, models.Plant{}); err != nil {
		t.Error(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A panickingRecorder panics after a reset.
type panickingRecorder struct{ failingRecorder }

// RecordReset implements [Recorder].
func (panickingRecorder) RecordReset() error { panic("a bug") }

// TestRecorderPanicsAtReset checks that a reset is known to be unrecorded if the recorder panics,
// and that the store stops.
func TestRecorderPanicsAtReset(t *testing.T) {
	t.Parallel()
	s := New(commitFunc{commit: func([]Item) error { return nil }}, Features{
		Stage:   func(context.Context, iter.Seq2[Record, error]) error { return nil },
		Replace: func() error { return nil },
	}, Options{Ephemeral: true})
	s.RecordWith(panickingRecorder{})
	if err := s.Reset(t.Context(), nil); !errors.Is(err, ErrUnrecorded) {
		t.Errorf("Reset = %v, want %v", err, ErrUnrecorded)
	}
	<-s.Stopped()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestStopDuringReset checks that creates which wait for a reset that stops the store are not
// committed after it.
func TestStopDuringReset(t *testing.T) {
	t.Parallel()
	committed := 0
	replacing, proceed := make(chan struct{}), make(chan struct{})
	s := New(commitFunc{commit: func([]Item) error { committed++; return nil }}, Features{
		Stage:   func(context.Context, iter.Seq2[Record, error]) error { return nil },
		Replace: func() error { close(replacing); <-proceed; return &FatalError{Cause: errors.New("a fault")} },
	}, Options{Ephemeral: true})
	reset, created := make(chan error, 1), make(chan error, 1)
	go func() { reset <- s.Reset(t.Context(), nil) }()
	<-replacing
	go func() { created <- s.Create(t.Context(), 1, models.Plant{}) }()
	for dequeued := false; !dequeued; runtime.Gosched() {
		s.mu.Lock()
		dequeued = !s.began[0].IsZero()
		s.mu.Unlock()
	}
	close(proceed)
	if err := <-reset; !errors.Is(err, ErrUnavailable) {
		t.Errorf("Reset = %v, want %v", err, ErrUnavailable)
	}
	if err := <-created; !errors.Is(err, ErrUnavailable) || committed != 0 {
		t.Errorf("Create = %v after %d commits, want %v after none", err, committed, ErrUnavailable)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestResetOfClosedStore checks that the seed of a closed store is not staged.
func TestResetOfClosedStore(t *testing.T) {
	t.Parallel()
	s := New(commitFunc{commit: func([]Item) error { return nil }}, Features{
		Stage:   func(context.Context, iter.Seq2[Record, error]) error { t.Error("staged"); return nil },
		Replace: func() error { return nil },
	}, Options{Ephemeral: true})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Reset(t.Context(), nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("Reset = %v, want %v", err, ErrUnavailable)
	}
}
