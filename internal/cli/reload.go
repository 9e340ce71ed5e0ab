package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
)

// reloadOn calls each of reloads at each SIGHUP, one after the other, until ctx is
// done. What fails is logged, and must have left everything as it was. There is no
// such signal on Windows.
func reloadOn(ctx context.Context, logger *slog.Logger, reloads ...func(context.Context) error) {
	onSignal(ctx, hangup(), func() {
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
func onTerminalGone(p *Process, stop context.CancelFunc) func(context.Context) error {
	if !isTerminal(p.Stderr) {
		return func(context.Context) error { return nil }
	}
	return func(context.Context) error {
		if !isTerminal(p.Stderr) {
			stop()
		}
		return nil
	}
}

// toggleDebugOn lets SIGUSR1 lower the level of the log to debug, and put it back
// to preset the next time, until ctx is done. It says so at every level. On Windows
// there is no SIGUSR1.
func toggleDebugOn(ctx context.Context, logger *slog.Logger, level *slog.LevelVar) {
	preset := level.Level()
	onSignal(ctx, toggle(), func() {
		to := slog.LevelDebug
		if level.Level() == to {
			to = preset
		}
		level.Set(to)
		logger.Log(ctx, max(to, slog.LevelInfo), "SIGUSR1: the level of the log is changed", "to", to.String())
	})
}

// onSignal calls do at each of the signals, if there are any, until ctx is done.
func onSignal(ctx context.Context, signals []os.Signal, do func()) {
	if len(signals) == 0 {
		return // Notify would take none for all
	}
	arrived := make(chan os.Signal, 1)
	signal.Notify(arrived, signals...)
	go func() {
		defer signal.Stop(arrived)
		for {
			select {
			case <-arrived:
				do()
			case <-ctx.Done():
				return
			}
		}
	}()
}
