package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// A FailStop stops a store after a fault, once and for all: whatever it was writing to must not be
// written to any more. A store shares it with its engine.
type FailStop struct {
	logger *slog.Logger
	once   sync.Once
	done   chan struct{} // closed when cause is set
	cause  error
}

// NewFailStop returns a FailStop that logs the fault.
func NewFailStop(logger *slog.Logger) *FailStop {
	return &FailStop{logger: logger, done: make(chan struct{})}
}

// Stop stops the store. The first cause counts, and is logged. It matches [ErrCorrupt] if what is
// stored is corrupt.
func (f *FailStop) Stop(cause error) {
	f.once.Do(func() {
		f.cause = cause
		close(f.done)
		f.logger.Error("store stopped after a fault", "cause", cause.Error())
	})
}

// Cause returns why the store has stopped, or nil.
func (f *FailStop) Cause() error {
	select {
	case <-f.done:
		return f.cause
	default:
		return nil
	}
}

// Refusal returns the error of creates in a store that has stopped, else nil.
func (f *FailStop) Refusal() error {
	if cause := f.Cause(); cause != nil {
		// As text only: the refusal must not match the errors that the cause matches.
		return fmt.Errorf("%w: it stopped after a fault: %s", ErrUnavailable, cause.Error())
	}
	return nil
}

// Stopped returns a channel that is closed when the store stops after a fault. It does not
// recover: the process should drain its requests and end.
func (s *Store) Stopped() <-chan struct{} { return s.failStop.done }

// Fault returns why the store has stopped after a fault, or nil. It matches [ErrCorrupt] if what is
// stored is corrupt.
func (s *Store) Fault() error { return s.failStop.Cause() }

// Reset replaces all plants by records, which are sorted by id. A create happens completely
// before the reset or completely after it: one that has returned nil before is gone, one that
// begins after it finds the new plants. A list that is under way continues with the new plants.
//
// If the error matches [ErrUnknown], either the old or the new plants are stored; after any other
// error the old ones. It returns [errors.ErrUnsupported] unless the engine is a [FileEngine].
func (s *Store) Reset(ctx context.Context, records []Record) error {
	if s.file == nil {
		return fmt.Errorf("this engine has no reset: %w", errors.ErrUnsupported)
	}
	select {
	case s.commits <- struct{}{}: // the only one
		defer func() { <-s.commits }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := s.accepting(); err != nil {
		return err
	}
	err := s.guard(func() error { return s.file.Reset(records) })
	if err == nil {
		s.mu.Lock()
		s.stats.Resets++
		s.mu.Unlock()
	}
	return err
}

// Ready returns nil while creates are accepted and the last commit has succeeded, otherwise the
// reason why not.
func (s *Store) Ready() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.refused(), s.failure)
}

// accepting returns nil while creates are accepted, else their error.
func (s *Store) accepting() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused()
}

// refused is accepting for a caller that holds s.mu.
func (s *Store) refused() error { return cmp.Or(s.failStop.Refusal(), s.refusal) }

// guard returns the error of a call of the engine. A panic stops the store with an unknown outcome.
func (s *Store) guard(call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			cause := fmt.Errorf("the engine panicked: %v", p)
			s.failStop.Stop(cause)
			err = fmt.Errorf("%w: %w\n%s", ErrUnknown, cause, debug.Stack())
		}
	}()
	return call()
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
	case <-s.Stopped():
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
	s.refusal = cmp.Or(s.refusal, fmt.Errorf("%w: it is closed", ErrUnavailable))
	s.mu.Unlock()
	for range cap(s.commits) { // after the commits under way
		s.commits <- struct{}{}
		defer func() { <-s.commits }() // a reset that waits is refused
	}
	for batch := s.nextBatch(); len(batch) > 0; batch = s.nextBatch() {
		s.commit(batch)
	}
	s.probing.Stop()
	close(s.done)
	s.running.Wait()
	s.closeErr = s.engine.Close()
}
