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

// grace is how long a command may take to end after a signal.
const grace = 500 * time.Millisecond

// errInterrupted is the error of a command that did not end by itself after a signal.
var errInterrupted = errors.New("interrupted")

// A shutdown ends a command after a signal, even one that waits for something that
// knows no context: the writer of a FIFO, the reader of a pipe, a person at a terminal.
// What it leaves behind is what kill -9 would, which every command and server must
// survive anyway, but for what cleanUp removes.
type shutdown struct {
	draining chan struct{} // closed when the command bounds its shutdown itself
	once     sync.Once     // closes it

	mu       sync.Mutex
	cleanups []func() error
}

func newShutdown() *shutdown { return &shutdown{draining: make(chan struct{})} }

// bound runs a command and returns its error, or [errInterrupted] if it is still
// running some time after ctx is done.
func (s *shutdown) bound(ctx context.Context, run func() error) error {
	result := make(chan error, 1)
	go func() { result <- run() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	enough := time.NewTimer(grace)
	defer enough.Stop()
	select {
	case err := <-result:
		return err
	case <-s.draining:
		return <-result
	case <-enough.C:
		return errors.Join(errInterrupted, s.cleanUp())
	}
}

// bySelf declares that from now on the command bounds its shutdown itself.
func (s *shutdown) bySelf() { s.once.Do(func() { close(s.draining) }) }

// onExit has remove called when the command ends, however it does. It returns what
// calls it once at most.
func (s *shutdown) onExit(remove func() error) func() error {
	once := sync.OnceValue(remove)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cleanups = append(s.cleanups, once)
	return once
}

// cleanUp calls what onExit was given, the last first.
func (s *shutdown) cleanUp() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, cleanUp := range slices.Backward(s.cleanups) {
		errs = append(errs, cleanUp())
	}
	return errors.Join(errs...)
}

// untilSignal returns a context that SIGINT or SIGTERM ends. A second one ends
// the process.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
