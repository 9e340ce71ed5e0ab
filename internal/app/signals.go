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

// signals are those that a server heeds beside those that end it. There are none on
// Windows.
type signals struct {
	hangup, toggle chan os.Signal
}

// catchSignals catches them from now on: one that comes while the server starts does
// not end it, but is heeded once it runs. Nor does SIGPIPE: who reads the log may go,
// the server stays, and an audit log that cannot be written refuses creates.
func catchSignals() signals {
	signal.Ignore(syscall.SIGPIPE)
	return signals{catch(hangup()), catch(toggle())}
}

func catch(which []os.Signal) chan os.Signal {
	arrived := make(chan os.Signal, 1)
	if len(which) > 0 { // Notify would take none for all
		signal.Notify(arrived, which...)
	}
	return arrived
}

// release lets them end the process again.
func (s signals) release() {
	signal.Stop(s.hangup)
	signal.Stop(s.toggle)
}

// reloadOn calls each of reloads at each SIGHUP, one after the other, until ctx is
// done. What fails is logged, and must have left everything as it was.
func (s signals) reloadOn(ctx context.Context, logger *slog.Logger, reloads ...func(context.Context) error) {
	go onSignal(ctx, s.hangup, func() {
		failed := 0
		for _, reload := range reloads {
			if err := reload(ctx); err != nil {
				failed++
				logger.Error("not reloaded: what was in force stays so; mend the cause and send SIGHUP again", "cause", err.Error())
			}
		}
		if failed == 0 {
			logger.Info("reloaded")
		}
	})
}

// onTerminalGone returns what calls stop if the terminal that stderr was is closed:
// the system then sends SIGHUP, and a server that somebody has started by hand ends
// with its terminal.
func onTerminalGone(stderr io.Writer, stop context.CancelFunc) func(context.Context) error {
	if !printable.IsTerminal(stderr) {
		return func(context.Context) error { return nil }
	}
	return func(context.Context) error {
		if !printable.IsTerminal(stderr) {
			stop()
		}
		return nil
	}
}

// toggleDebugOn lets SIGUSR1 lower the level of the log to debug, and put it back
// to preset the next time, until ctx is done. It says so at every level.
func (s signals) toggleDebugOn(ctx context.Context, logger *slog.Logger, level *slog.LevelVar) {
	preset := level.Level()
	go onSignal(ctx, s.toggle, func() {
		to := slog.LevelDebug
		if level.Level() == to {
			to = preset
		}
		level.Set(to)
		logger.Log(ctx, max(to, slog.LevelInfo), "SIGUSR1: the level of the log is changed", "to", to.String())
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
