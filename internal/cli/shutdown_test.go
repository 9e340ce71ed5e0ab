package cli

import (
	"context"
	"errors"
	"testing"
)

// TestBoundedShutdown checks that a command that ignores its context ends some time after a
// signal, and its temporary files are removed.
func TestBoundedShutdown(t *testing.T) {
	t.Parallel()
	release, waits := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waits
		cancel()
	}()
	removed := 0
	s := newShutdown()
	err := s.bound(ctx, func() error {
		s.onExit(func() error { removed++; return nil })
		close(waits)
		<-release
		return nil
	})
	if !errors.Is(err, errInterrupted) || removed != 1 {
		t.Errorf("%v, removed %d times", err, removed)
	}
	close(release)
}

// TestShutdownBySelf checks that a command that bounds its shutdown itself is waited for.
func TestShutdownBySelf(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newShutdown()
	want := errors.New("done")
	err := s.bound(ctx, func() error {
		s.bySelf()
		cancel()
		return want
	})
	if !errors.Is(err, want) {
		t.Error(err)
	}
}
