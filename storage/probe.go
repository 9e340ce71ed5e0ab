package storage

import (
	"context"
	"fmt"
	"time"

	"plantstore/internal/wait"
)

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
