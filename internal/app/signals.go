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

// signals are the signals that a server handles, besides signals that end it. Windows sends
// none of them.
type signals struct {
	hangup, toggle chan os.Signal
}

// catchSignals starts catching signals: a signal while the server starts does not end it, but is
// handled when it runs. SIGPIPE is ignored: the server continues if the reader of the log exits,
// and refuses creates if the audit log cannot be written.
func catchSignals() signals {
	signal.Ignore(syscall.SIGPIPE)
	return signals{catch(syscall.SIGHUP), catch(toggle()...)}
}

func catch(which ...os.Signal) chan os.Signal {
	arrived := make(chan os.Signal, 1)
	if len(which) > 0 { // signal.Notify without signals would catch all
		signal.Notify(arrived, which...)
	}
	return arrived
}

// release restores the default behaviour.
func (s signals) release() {
	signal.Stop(s.hangup)
	signal.Stop(s.toggle)
}

// reloadOn calls all reloads at each SIGHUP until ctx is done. It logs failures.
func (s signals) reloadOn(ctx context.Context, logger *slog.Logger, reloads []func(context.Context) error) {
	go onSignal(ctx, s.hangup, func() {
		failed := 0
		for _, reload := range reloads {
			if err := reload(ctx); err != nil {
				failed++
				logger.Error("reload failed, keeping the previous state", "cause", err.Error(), "hint", "fix the error and send SIGHUP again")
			}
		}
		if failed == 0 {
			logger.Info("reloaded")
		}
	})
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

// toggleDebugOn makes SIGUSR1 switch the log level between debug and the configured one,
// until ctx is done. It logs the change at any level.
func (s signals) toggleDebugOn(ctx context.Context, logger *slog.Logger, level *slog.LevelVar) {
	preset := level.Level()
	go onSignal(ctx, s.toggle, func() {
		to := slog.LevelDebug
		if level.Level() == to {
			to = preset
		}
		level.Set(to)
		logger.Log(ctx, max(to, slog.LevelInfo), "log level changed by SIGUSR1", "to", to.String())
	})
}

// onSignal calls do at each signal, until ctx is done.
func onSignal(ctx context.Context, arrived <-chan os.Signal, do func()) {
	for {
		select {
		case <-arrived:
			do()
		case <-ctx.Done():
			return
		}
	}
}
