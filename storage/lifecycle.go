package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
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

// Ready returns nil while creates are accepted and the last commit has succeeded, otherwise the
// reason why not.
func (s *Store) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.refusal, s.failure)
}

// accepting returns nil while creates are accepted, else their error.
func (s *Store) accepting() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal
}

// Stopped returns a channel that is closed when the store stops after a fault, whose
// cause Ready then returns. It does not recover: the process should drain its
// requests and end, to be restarted.
func (s *Store) Stopped() <-chan struct{} { return s.stopped }

// stop ends the store after a fault: creates that are queued, and all that come
// later, get [ErrUnavailable]. Creates in a batch get the outcome of its commit. The first
// cause counts, and is logged.
func (s *Store) stop(cause error) {
	s.stopping.Do(func() {
		s.mu.Lock()
		// As text only: the refusal must not match the errors that the cause matches.
		s.refusal = fmt.Errorf("%w: it stopped after a fault: %s", ErrUnavailable, cause.Error())
		close(s.stopped)
		for _, r := range s.queue {
			r.done <- s.refusal
		}
		s.queue, s.bytes = nil, 0
		s.mu.Unlock()
		s.options.Log().Error("store stopped after a fault", "cause", cause.Error())
	})
}

// guard returns the error of a call of the engine. After a [FatalError] it stops the store, and
// returns what the callers get. A panic stops the store with an unknown outcome.
func (s *Store) guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			cause := fmt.Errorf("the engine panicked: %v", p)
			s.stop(cause)
			err = fmt.Errorf("%w: %w\n%s", ErrUnknown, cause, debug.Stack())
		}
	}()
	err = call()
	if fatal, ok := errors.AsType[*FatalError](err); ok {
		s.stop(fatal.Cause)
		return cmp.Or(fatal.Outcome, s.accepting())
	}
	return err
}

// stoppedClose limits the time of Close after a fault.
const stoppedClose = 10 * time.Second

// Close commits queued creates, refuses later ones with [ErrUnavailable], ends the
// background work, and closes the engine. A second call waits for the
// first one and returns the same error. After a fault it waits for ten seconds at most: a call
// of a database that cannot be read may never return, and the process should end.
func (s *Store) Close() error {
	s.closing.Do(func() { go s.close() })
	select {
	case <-s.closed:
	case <-s.stopped:
		select {
		case <-s.closed:
		case <-time.After(stoppedClose):
			return fmt.Errorf("the store does not close: %w", s.accepting())
		}
	}
	return s.closeErr
}

func (s *Store) close() {
	defer close(s.closed)
	s.mu.Lock()
	s.draining = true
	s.refusal = cmp.Or(s.refusal, fmt.Errorf("%w: it is closed", ErrUnavailable))
	s.mu.Unlock()
	s.work.Broadcast()
	s.writers.Wait()
	s.committing.RLock() // after a reset that has begun; a later one is refused
	closeEngine := s.closeEngine
	s.committing.RUnlock()
	s.closeErr = closeEngine()
}
