package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// delayed returns a context that is done when leave has returned, which is called when leaving is
// done. In between, load balancers notice that the server is not ready, while requests are still
// served.
func delayed(leaving context.Context, leave func(context.Context)) (context.Context, context.CancelFunc) {
	serving, cancel := context.WithCancel(context.WithoutCancel(leaving))
	forget := context.AfterFunc(leaving, func() {
		defer cancel()
		leave(serving)
	})
	return serving, func() {
		forget()
		cancel()
	}
}

// leave waits for SHUTDOWN_DELAY: requests are still served, but connections close after the
// response. It ends early at a signal, or when the store has stopped itself, since it would
// refuse each create.
func (a *App) leave(ctx context.Context) {
	if a.config.ShutdownDelay == 0 || faultOf(a.store) != nil {
		return
	}
	ctx, cancel := untilStopped(ctx, a.store)
	defer cancel()
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a.server.Leave()
	a.logger.Info("shutting down: not ready, still serving", "delay", a.config.ShutdownDelay.String())
	select {
	case <-ctx.Done():
	case <-time.After(a.config.ShutdownDelay):
	}
}
