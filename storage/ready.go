package storage

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

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

// retryPause is the time from a failed commit to the next attempt.
const retryPause = time.Second

// countCommit counts a commit and keeps its outcome for Ready. After a failure a writer commits
// an empty batch each second until a commit succeeds: a store that is not ready may get no
// creates. A commit in which all ids are taken may have written nothing, and does not count.
func (s *Store) countCommit(items []Item, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if len(items) > 0 {
			s.stats.FailedCommits++
		}
		s.failure = fmt.Errorf("%w: the last commit has failed: %w", ErrUnavailable, err)
		s.retry.Reset(retryPause)
		return
	}
	created := uint64(0)
	for i := range items {
		if items[i].Err == nil && items[i].Existing == nil {
			created++
		}
	}
	s.stats.Created += created
	if created > 0 || len(items) == 0 {
		s.failure = nil
		s.retry.Stop()
	}
}

// retryCommit makes a writer commit an empty batch.
func (s *Store) retryCommit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.retryDue = true
	s.work.Signal()
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
