package storage_test

import (
	"context"
	"errors"
	"io"
	"sync"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// A generation is an engine between two resets. Its test fails if it is used when it should not
// be.
type generation struct {
	storage.Engine // nil: no test reads

	t        *testing.T
	snapshot chan struct{} // closed when a snapshot has begun, which ends when proceed is closed
	proceed  chan struct{}

	mu      sync.Mutex
	stored  map[int64]bool
	running bool
	closed  bool
}

func newGeneration(t *testing.T) *generation {
	t.Helper()
	return &generation{t: t, stored: map[int64]bool{}, snapshot: make(chan struct{}), proceed: make(chan struct{})}
}

// Commit implements [storage.Engine].
func (g *generation) Commit(batch []storage.Item) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		g.t.Error("a commit after Close")
	}
	for _, item := range batch {
		g.stored[item.ID] = true
	}
	return nil
}

// Close implements [storage.Engine].
func (g *generation) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.running {
		g.t.Errorf("Close, closed before: %t, Run has not returned: %t", g.closed, g.running)
	}
	g.closed = true
	return nil
}

// Run implements [storage.Runner].
func (g *generation) Run(ctx context.Context, _ func(error)) {
	g.setRunning(true)
	<-ctx.Done()
	g.setRunning(false)
}

// Snapshot implements [storage.Snapshotter].
func (g *generation) Snapshot(context.Context, io.Writer) error {
	close(g.snapshot)
	<-g.proceed
	if g.isClosed() {
		g.t.Error("Close during a snapshot")
	}
	return nil
}

func (g *generation) setRunning(running bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running = running
}

func (g *generation) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.stored)
}

func (g *generation) isClosed() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.closed
}

// TestFailedReset checks that a store whose engine cannot be opened again stops, for creates and
// resets that wait as well as for later ones.
func TestFailedReset(t *testing.T) {
	t.Parallel()
	for name, reopen := range map[string]func() (storage.Engine, error){
		"error": func() (storage.Engine, error) {
			return nil, errors.New("the disk hums")
		},
		"panic": func() (storage.Engine, error) { panic("the disk hums") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := newGeneration(t)
			s := storage.New(g, storage.Limits{}, storage.Options{})
			var running sync.WaitGroup
			err := s.Reset(func() (storage.Engine, error) {
				for id := range int64(4) {
					running.Go(func() {
						if err := s.Create(t.Context(), id, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
							t.Errorf("Create = %v, want: %v", err, storage.ErrUnavailable)
						}
					})
				}
				return reopen()
			})
			if want := map[string]error{"error": storage.ErrUnavailable, "panic": storage.ErrUnknown}[name]; !errors.Is(err, want) {
				t.Errorf("Reset = %v, want: %v", err, want)
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
		return nil, nil
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
	if g.count() != 100 {
		t.Errorf("%d plants during the snapshot, want 100", g.count())
	}
	close(g.proceed)
	running.Wait()
	if err := s.Close(); err != nil {
		t.Errorf("Close = %v", err)
	}
}
