package storage_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/models"
	"plantstore/storage"
)

// A generation is an engine between two resets. Its test fails if it is used when it should not
// be.
type generation struct {
	storage.Engine // nil: no test reads

	t                 *testing.T
	snapshot, proceed chan struct{} // snapshot is closed when a snapshot has begun, which ends when proceed is closed
	stored            atomic.Int64
	running, closed   atomic.Bool
}

func newGeneration(t *testing.T) *generation {
	t.Helper()
	return &generation{t: t, snapshot: make(chan struct{}), proceed: make(chan struct{})}
}

// Commit implements [storage.Engine].
func (g *generation) Commit(batch []storage.Item) error {
	if g.closed.Load() {
		g.t.Error("a commit after Close")
	}
	g.stored.Add(int64(len(batch)))
	return nil
}

// Close implements [storage.Engine].
func (g *generation) Close() error {
	if g.closed.Swap(true) || g.running.Load() {
		g.t.Errorf("Close again, or before Run has returned")
	}
	return nil
}

// Run implements [storage.Runner].
func (g *generation) Run(ctx context.Context, _ func(error)) {
	g.running.Store(true)
	<-ctx.Done()
	g.running.Store(false)
}

// Snapshot implements [storage.Snapshotter].
func (g *generation) Snapshot(context.Context, io.Writer) error {
	close(g.snapshot)
	<-g.proceed
	if g.closed.Load() {
		g.t.Error("Close during a snapshot")
	}
	return nil
}

// TestFailedReset checks that a store whose engine cannot be opened again stops, for creates and
// resets that wait as well as for later ones.
func TestFailedReset(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reopen func() (storage.Engine, error)
		want   error
	}{
		"error": {func() (storage.Engine, error) { return nil, errHum }, storage.ErrUnavailable},
		"panic": {func() (storage.Engine, error) { panic(errHum) }, storage.ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := storage.New(newGeneration(t), storage.Limits{}, storage.Options{})
			var running sync.WaitGroup
			err := s.Reset(func() (storage.Engine, error) {
				for err := error(nil); !errors.Is(err, storage.ErrUnknown); { // until the writer has a create
					ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
					err = s.Create(ctx, 9, models.Plant{})
					cancel()
				}
				for id := range int64(4) {
					running.Go(func() {
						if err := s.Create(t.Context(), id, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
							t.Errorf("Create = %v, want: %v", err, storage.ErrUnavailable)
						}
					})
				}
				return test.reopen()
			})
			if !errors.Is(err, test.want) {
				t.Errorf("Reset = %v, want: %v", err, test.want)
			}
			running.Wait()
			<-s.Stopped()
			wantNoReset(t, s)
			if err := s.Close(); err != nil {
				t.Errorf("Close = %v", err)
			}
			wantNoReset(t, s)
		})
	}
}

// wantNoReset checks that a reset of the store is refused, and opens no engine.
func wantNoReset(t *testing.T, s *storage.Store) {
	t.Helper()
	err := s.Reset(func() (storage.Engine, error) {
		t.Error("an engine is opened")
		return nil, errHum
	})
	if !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Reset = %v, want: %v", err, storage.ErrUnavailable)
	}
}

// TestResetAwaitsSnapshot checks that a reset lets a snapshot end, and that creates do not wait
// for either.
func TestResetAwaitsSnapshot(t *testing.T) {
	t.Parallel()
	g, next := newGeneration(t), newGeneration(t)
	s := storage.New(g, storage.Limits{}, storage.Options{})
	var running sync.WaitGroup
	running.Go(func() {
		if err := s.Snapshot(t.Context(), io.Discard); err != nil {
			t.Errorf("Snapshot = %v", err)
		}
	})
	<-g.snapshot
	running.Go(func() {
		if err := s.Reset(func() (storage.Engine, error) { return next, nil }); err != nil {
			t.Errorf("Reset = %v", err)
		}
	})
	for id := range int64(100) {
		if err := s.Create(t.Context(), id, models.Plant{}); err != nil {
			t.Errorf("Create = %v", err)
		}
	}
	if n := g.stored.Load(); n != 100 {
		t.Errorf("%d plants during the snapshot, want 100", n)
	}
	close(g.proceed)
	running.Wait()
	if err := s.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
}
