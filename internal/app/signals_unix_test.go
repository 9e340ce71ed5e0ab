//go:build unix

package app

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/config"
)

// lines is a writer of log lines.
type lines chan string

// Write implements [io.Writer].
func (l lines) Write(p []byte) (int, error) {
	l <- string(p)
	return len(p), nil
}

// TestSignalsDuringReload checks that all SIGHUP that arrive during a reload cause one further
// reload, and that SIGUSR1 does not wait for any.
func TestSignalsDuringReload(t *testing.T) { //nolint:paralleltest // its signals reach all servers of the process
	began, proceed, logged := make(chan struct{}), make(chan struct{}), make(lines, 16)
	a := &App{config: new(config.Config), level: new(slog.LevelVar), logger: slog.New(slog.NewTextHandler(logged, nil))}
	a.reloads = append(a.reloads, func(context.Context) error {
		began <- struct{}{}
		<-proceed
		return nil
	})
	send := func(s syscall.Signal) {
		t.Helper()
		caught := make(chan os.Signal, 1)
		signal.Notify(caught, s)
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		<-caught
		signal.Stop(caught) // returns when the server has the signal, too
	}
	a.catchSignals()
	ctx, cancel := context.WithCancel(t.Context())
	for _, arrived := range a.signals {
		go a.handleSignals(ctx, arrived, cancel)
	}
	send(syscall.SIGHUP)
	<-began
	for range 16 {
		send(syscall.SIGHUP)
	}
	send(syscall.SIGUSR1)
	if line := <-logged; !strings.Contains(line, "log level changed by SIGUSR1") {
		t.Errorf("during the reload: %s", line)
	}
	proceed <- struct{}{}
	<-began
	if waiting := len(a.signals[0]); waiting > 0 {
		t.Errorf("%d SIGHUP wait after the further reload has begun", waiting)
	}
	cancel()
	close(proceed)
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}
