package storage

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

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
