package app

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"plantstore/internal/wait"
)

// delayed returns a context that is done a delay after leaving is done, or earlier if the
// context that leave returns is done. In between, load balancers notice that the server is not
// ready, while requests are still served.
func delayed(leaving context.Context, delay time.Duration, leave func(context.Context) (context.Context, context.CancelFunc)) (context.Context, context.CancelFunc) {
	if delay == 0 {
		return context.WithCancel(leaving)
	}
	serving, cancel := context.WithCancel(context.WithoutCancel(leaving))
	forget := context.AfterFunc(leaving, func() {
		defer cancel()
		waiting, release := leave(serving)
		defer release()
		wait.Sleep(waiting, delay)
	})
	return serving, func() {
		forget()
		cancel()
	}
}

// leave begins the delay: requests are still served, but connections close after the response.
// The returned context is done at a signal, or when the store has stopped itself, since it would
// refuse each create.
func (a *App) leave(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := untilStopped(ctx, a.store)
	if faultOf(a.store) != nil {
		cancel()
		return ctx, cancel
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	a.server.Leave()
	a.logger.Info("shutting down: not ready, still serving", "delay", a.config.ShutdownDelay.String())
	return ctx, func() {
		stop()
		cancel()
	}
}
