//go:build unix

package app

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"plantstore/internal/config"
	"plantstore/internal/must"
)

// TestSignalsDuringReload checks that all SIGHUP that arrive during a reload cause one further
// reload.
func TestSignalsDuringReload(t *testing.T) {
	began, proceed := make(chan struct{}), make(chan struct{})
	a := &App{config: new(config.Config), logger: slog.New(slog.DiscardHandler)}
	a.reloads = append(a.reloads, reload{"a file", func(context.Context) error {
		began <- struct{}{}
		<-proceed
		return nil
	}})
	send := func() {
		t.Helper()
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, syscall.SIGHUP)
		must.Do(t, syscall.Kill(os.Getpid(), syscall.SIGHUP))
		<-caught
		signal.Stop(caught) // returns when the server has the signal, too
	}
	a.catchHangups()
	ctx, cancel := context.WithCancel(t.Context())
	go a.handleHangups(ctx, cancel)
	send()
	<-began
	for range 16 {
		send()
	}
	proceed <- struct{}{}
	<-began
	if waiting := len(a.hangups); waiting > 0 {
		t.Errorf("%d SIGHUP wait after the further reload has begun", waiting)
	}
	cancel()
	close(proceed)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
