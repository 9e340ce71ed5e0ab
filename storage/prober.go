package storage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"plantstore/internal/wait"
)

const (
	// probeInterval is the time between two probes.
	probeInterval = 5 * time.Second
	// probeTimeout bounds one probe.
	probeTimeout = 3 * time.Second
)

// A prober probes a remote engine from time to time, so that Ready of [Store]
// returns at once: its result is at most 8 seconds old.
type prober struct {
	probe func(ctx context.Context) error

	mu  sync.Mutex
	err error // of the last probe
}

// run probes until ctx ends. The engine was reached when it was opened.
func (p *prober) run(ctx context.Context) {
	wait.Every(ctx, probeInterval, func() {
		err := p.once(ctx)
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
	})
}

func (p *prober) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	return p.probe(ctx)
}

// ready returns nil if the last probe succeeded, else its error, as
// [ErrUnavailable].
func (p *prober) ready() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, p.err)
}
