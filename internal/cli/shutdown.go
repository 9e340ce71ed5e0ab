package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"
)

// grace is the time for a command to end after a signal.
const grace = 500 * time.Millisecond

// errInterrupted is returned for a command that did not end after a signal.
var errInterrupted = errors.New("interrupted")

// A shutdown ends a command after a signal, even if it waits for something that ignores
// contexts: the writer of a FIFO, the reader of a pipe, a person at a terminal. Apart from
// removing the temporary directory, this is like kill -9, after which all files are still valid.
type shutdown struct {
	unlimited chan struct{}          // closed when the command limits its shutdown itself
	temporary atomic.Pointer[string] // a directory to remove at exit
	again     chan os.Signal         // gets the second signal if there is one
}

func newShutdown() *shutdown {
	return &shutdown{unlimited: make(chan struct{}), again: make(chan os.Signal, 1)}
}

// limit runs a command and returns its error, or [errInterrupted] if it does not end within
// grace after ctx is done, or at the second signal. Then it removes the temporary directory.
func (s *shutdown) limit(ctx context.Context, run func() error) (err error) {
	defer func() {
		if dir := s.temporary.Load(); dir != nil {
			err = errors.Join(err, os.RemoveAll(*dir))
		}
	}()
	result := make(chan error, 1)
	go func() { result <- run() }()
	select {
	case err := <-result:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-result:
		return err
	case <-s.unlimited:
	case <-time.After(grace):
		return errInterrupted
	}
	select {
	case err := <-result:
		return err
	case <-s.again:
		return errInterrupted
	}
}

// removeLimit removes the time limit: the command has its own. It is called once.
func (s *shutdown) removeLimit() { close(s.unlimited) }

// untilSignal returns a context that SIGINT or SIGTERM cancels. A second signal ends the
// process, unless the server catches it in SHUTDOWN_DELAY. If there is a temporary directory,
// the second signal makes limit return, even in SHUTDOWN_DELAY, so that the directory is removed.
func (s *shutdown) untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	forget := context.AfterFunc(ctx, func() {
		if s.temporary.Load() != nil {
			signal.Notify(s.again, os.Interrupt, syscall.SIGTERM)
		}
		stop()
	})
	return ctx, func() {
		forget()
		stop()
		signal.Stop(s.again)
	}
}
