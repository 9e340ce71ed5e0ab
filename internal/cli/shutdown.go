package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"sync"
	"syscall"
	"time"
)

// grace is the time for a command to end after a signal.
const grace = 500 * time.Millisecond

// errInterrupted is returned for a command that did not end after a signal.
var errInterrupted = errors.New("interrupted")

// A shutdown ends a command after a signal, even if it waits for something that ignores
// contexts: the writer of a FIFO, the reader of a pipe, a person at a terminal. Apart from
// the cleanups, the effect is that of kill -9, which all commands and servers survive.
type shutdown struct {
	draining chan struct{} // closed when the command limits its shutdown itself
	once     sync.Once     // closes it

	mu       sync.Mutex
	cleanups []func() error
}

func newShutdown() *shutdown { return &shutdown{draining: make(chan struct{})} }

// bound runs a command and returns its error, or [errInterrupted] if it does not end within
// grace after ctx is done.
func (s *shutdown) bound(ctx context.Context, run func() error) error {
	result := make(chan error, 1)
	go func() { result <- run() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err := <-result:
		return err
	case <-s.draining:
		return <-result
	case <-timer.C:
		return errors.Join(errInterrupted, s.cleanUp())
	}
}

// bySelf removes the time limit: the command has its own.
func (s *shutdown) bySelf() { s.once.Do(func() { close(s.draining) }) }

// onExit registers a cleanup for when the command is interrupted, and returns it as a
// function that runs it at most once.
func (s *shutdown) onExit(remove func() error) func() error {
	once := sync.OnceValue(remove)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, once)
	return once
}

// cleanUp runs the registered cleanups in reverse order.
func (s *shutdown) cleanUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, cleanUp := range slices.Backward(s.cleanups) {
		errs = append(errs, cleanUp())
	}
	return errors.Join(errs...)
}

// untilSignal returns a context that SIGINT or SIGTERM cancels. A second signal ends the
// process, unless the server catches it in SHUTDOWN_DELAY.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
