package storage

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"plantstore/internal/wait"
)

// hangsAfter is the maximum duration of a commit. It is longer than any successful commit, and
// than the longest time-out of a remote engine, which is a minute.
const hangsAfter = 90 * time.Second

// Ready returns nil while creates are accepted and succeed, otherwise the reason why not: the
// error matches [ErrCommitHangs] if the commit of a writer hangs, and [ErrFailing] if the
// last commit has failed.
func (s *Store) Ready() error {
	s.mu.Lock()
	err := cmp.Or(s.refusal, s.hanging(), s.health.failure, s.unreachable)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	return s.recorderReady()
}

// accepting returns nil while creates are accepted, else their error.
func (s *Store) accepting() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal
}

// hanging returns an error if a commit hangs.
func (s *Store) hanging() error {
	for _, began := range s.began {
		if took := time.Since(began); !began.IsZero() && took > hangsAfter {
			return fmt.Errorf("%w: %w: one has taken %v", ErrUnavailable, ErrCommitHangs, took.Round(time.Second))
		}
	}
	return nil
}

const (
	// probeInterval is the time between two probes.
	probeInterval = 5 * time.Second
	// probeTimeout bounds one probe.
	probeTimeout = 3 * time.Second
)

// probe probes a remote engine from time to time until ctx ends, so that Ready returns at
// once: the result is at most 8 seconds old. The engine was reached when it was opened.
func (s *Store) probe(ctx context.Context) {
	wait.Every(ctx, probeInterval, func() {
		inTime, cancel := context.WithTimeout(ctx, probeTimeout)
		defer cancel()
		err := s.features.Probe(inTime)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.unreachable = nil; err != nil {
			s.unreachable = fmt.Errorf("%w: %w", ErrUnavailable, err)
		}
	})
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

// guard returns the error of a call of a part of the store. After a [FatalError] it stops the
// store, and returns what the callers get. A panic is a FatalError with that outcome.
func (s *Store) guard(part string, outcome error, call func() error) error {
	err := noPanic(part, outcome, call)
	fatal, ok := errors.AsType[*FatalError](err)
	if !ok {
		return err
	}
	s.stop(fatal.Cause)
	return cmp.Or(fatal.Outcome, s.accepting())
}

func noPanic(part string, outcome error, call func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &FatalError{
				Cause:   fmt.Errorf("the %s panicked: %v", part, p),
				Outcome: fmt.Errorf("%w: the %s panicked: %v\n%s", outcome, part, p, debug.Stack()),
			}
		}
	}()
	return call()
}
