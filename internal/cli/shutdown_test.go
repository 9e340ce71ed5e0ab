package cli

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
)

// TestBoundedShutdown checks that a command that ignores its context ends some time after a
// signal, and its temporary directory is removed.
func TestBoundedShutdown(t *testing.T) {
	t.Parallel()
	release, waits := make(chan struct{}), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-waits
		cancel()
	}()
	dir := t.TempDir()
	s := newShutdown()
	err := s.limit(ctx, func() error {
		s.temporary.Store(&dir)
		close(waits)
		<-release
		return nil
	})
	if _, missing := os.Stat(dir); !errors.Is(err, errInterrupted) || !errors.Is(missing, fs.ErrNotExist) {
		t.Errorf("%v, stat %s: %v", err, dir, missing)
	}
	close(release)
}

// TestSecondSignal checks that the second signal ends a command that bounds its shutdown itself,
// and its temporary directory is removed.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	s := newShutdown()
	err := s.limit(ctx, func() error {
		s.temporary.Store(&dir)
		s.removeLimit()
		cancel()
		s.again <- os.Interrupt
		<-release
		return nil
	})
	if _, missing := os.Stat(dir); !errors.Is(err, errInterrupted) || !errors.Is(missing, fs.ErrNotExist) {
		t.Errorf("%v, stat %s: %v", err, dir, missing)
	}
}

// TestShutdownBySelf checks that a command that bounds its shutdown itself is waited for.
func TestShutdownBySelf(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := newShutdown()
	want := errors.New("done")
	err := s.limit(ctx, func() error {
		s.removeLimit()
		cancel()
		return want
	})
	if !errors.Is(err, want) {
		t.Error(err)
	}
}
