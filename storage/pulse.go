package storage

import (
	"context"
	"fmt"
	"sync"
	"time"
)

const (
	// pulsePause is that between two questions of a [Pulse].
	pulsePause = 5 * time.Second
	// pulsePatience is how long one may go unanswered.
	pulsePatience = 3 * time.Second
)

// A Pulse asks a remote engine from time to time whether it can take plants, so
// that [Store] Ready can say so at once: what it says is at most 8 seconds old.
type Pulse struct {
	ask    func(ctx context.Context) error
	cancel context.CancelFunc
	ended  sync.WaitGroup

	mu  sync.Mutex
	err error // what ask returned last
}

// NewPulse starts one, until Close, for an engine that has just answered. The
// function ask must return soon after its context has ended.
func NewPulse(ask func(ctx context.Context) error) *Pulse {
	ctx, cancel := context.WithCancel(context.Background())
	p := &Pulse{ask: ask, cancel: cancel}
	p.ended.Go(func() { p.run(ctx) })
	return p
}

func (p *Pulse) run(ctx context.Context) {
	for Sleep(ctx, pulsePause) {
		err := p.once(ctx)
		p.mu.Lock()
		p.err = err
		p.mu.Unlock()
	}
}

func (p *Pulse) once(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pulsePatience)
	defer cancel()
	return p.ask(ctx)
}

// Err returns nil if the engine could take plants when it was last asked, else why
// not, as [ErrUnavailable].
func (p *Pulse) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrUnavailable, p.err)
}

// Close ends the questions, one under way too. Closing again does nothing.
func (p *Pulse) Close() {
	p.cancel()
	p.ended.Wait()
}
