package app

import (
	"context"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"plantstore/internal/printable"
)

// catchSignals starts catching the signals that a server handles, besides signals that end it: a
// signal while the server starts does not end it, but is handled when it runs. Windows sends none
// of them. SIGPIPE is ignored: the server continues if the reader of the log exits, and refuses
// creates if the audit log cannot be written.
func (a *App) catchSignals() {
	signal.Ignore(syscall.SIGPIPE)
	a.hangup = a.catch(syscall.SIGHUP)
	a.toggle = a.catch(toggle()...)
}

// catch catches signals until [App.Close].
func (a *App) catch(which ...os.Signal) <-chan os.Signal {
	arrived := make(chan os.Signal, 1)
	if len(which) > 0 { // signal.Notify without signals would catch all
		signal.Notify(arrived, which...)
	}
	a.onClose(func() error { signal.Stop(arrived); return nil })
	return arrived
}

// reload calls all reloads, and logs failures.
func (a *App) reload(ctx context.Context) {
	failed := 0
	for _, reload := range a.reloads {
		if err := reload(ctx); err != nil {
			failed++
			a.logger.Error("reload failed, keeping the previous state", "cause", err.Error(), "hint", "fix the error and send SIGHUP again")
		}
	}
	if failed == 0 {
		a.logger.Info("reloaded")
	}
}

// onTerminalGone returns a reload that calls stop if stderr was a terminal that is closed:
// the system then sends SIGHUP, and a server that was started by hand ends with its terminal.
func onTerminalGone(stderr io.Writer, stop context.CancelFunc) func(context.Context) error {
	was := printable.IsTerminal(stderr)
	return func(context.Context) error {
		if was && !printable.IsTerminal(stderr) {
			stop()
		}
		return nil
	}
}

// toggleDebug switches the log level between debug and the configured one. It logs the change
// at any level.
func (a *App) toggleDebug(ctx context.Context) {
	to := slog.LevelDebug
	if a.level.Level() == to {
		to = a.config.LogLevel
	}
	a.level.Set(to)
	a.logger.Log(ctx, max(to, slog.LevelInfo), "log level changed by SIGUSR1", "to", to.String())
}

// onSignal calls do at each signal, until ctx is done.
func onSignal(ctx context.Context, arrived <-chan os.Signal, do func(context.Context)) {
	for {
		select {
		case <-arrived:
			do(ctx)
		case <-ctx.Done():
			return
		}
	}
}
