package storage

import (
	"context"
	"fmt"
	"sync"
)

// start begins the background work of an engine, which the store uses from now on.
func (s *Store) start(engine Engine) {
	ctx, end := context.WithCancel(context.Background())
	var background sync.WaitGroup
	if runner, ok := engine.(Runner); ok && !s.options.ReadOnly {
		background.Go(func() { runner.Run(ctx, s.stop) })
	}
	s.engine = engine
	s.closeEngine = sync.OnceValue(func() error {
		end()
		background.Wait()
		return engine.Close()
	})
}

// current returns the engine. During a reset it waits for the new one.
func (s *Store) current() Engine {
	s.committing.RLock()
	defer s.committing.RUnlock()
	return s.engine
}

// Reset replaces all plants: between two commits it closes the engine, and continues with the
// one that reopen returns, within the limits of the first one. A create happens completely
// before the reset or completely after it: one that has returned nil before is gone, one that
// begins after it finds the new plants. A read that begins meanwhile waits, and a list that a
// reset interrupts ends with [ErrUnavailable]. A reset waits until snapshots have ended.
//
// If reopen fails, the store stops, and Reset returns [ErrUnavailable].
func (s *Store) Reset(reopen func() (Engine, error)) error {
	s.resetting.Lock()
	defer s.resetting.Unlock()
	s.committing.Lock()
	defer s.committing.Unlock()
	if err := s.accepting(); err != nil {
		return err
	}
	_ = s.closeEngine() // what it could not store is discarded anyway
	return s.guard(func() error {
		engine, err := reopen()
		if err != nil {
			return &FatalError{Cause: fmt.Errorf("reset: %w", err)}
		}
		s.start(engine)
		s.mu.Lock()
		s.stats.Resets++
		s.mu.Unlock()
		return nil
	})
}
