package app

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"plantstore/internal/printable"
)

// catchSignals catches SIGHUP and SIGUSR1 until [App.Close]. One that arrives during the start
// does not end the process, but is handled when the server runs. Windows sends neither. SIGPIPE
// is ignored: the server continues if the reader of the log exits, and refuses creates if the
// audit log cannot be written.
func (a *App) catchSignals() {
	signal.Ignore(syscall.SIGPIPE)
	for _, s := range caught() {
		arrived := make(chan os.Signal, 1) // signals that arrive while one is handled are merged
		signal.Notify(arrived, s)
		a.onClose(func() error { signal.Stop(arrived); return nil })
		a.signals = append(a.signals, arrived)
	}
}

// handleSignals handles the signals that arrive until ctx is done. If stderr was a terminal that is
// closed it calls stop: the system then sends SIGHUP, and a server that was started by hand ends
// with its terminal.
func (a *App) handleSignals(ctx context.Context, arrived <-chan os.Signal, stop context.CancelFunc) {
	terminal := printable.IsTerminal(a.options.Stderr)
	for {
		select {
		case <-ctx.Done():
			return
		case s := <-arrived:
			switch {
			case s != syscall.SIGHUP:
				a.toggleDebug(ctx)
			case terminal && !printable.IsTerminal(a.options.Stderr):
				stop()
			default:
				a.reload(ctx)
			}
		}
	}
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
