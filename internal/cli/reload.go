package cli

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
)

// reloadOn calls each of reloads when SIGHUP arrives, one after the other, until ctx is
// done. What fails is logged, and must have left everything as it was. There is
// no such signal on Windows.
func reloadOn(ctx context.Context, _ *Process, logger *slog.Logger, reloads ...func(context.Context) error) {
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	go func() {
		defer signal.Stop(hangup)
		for {
			select {
			case <-ctx.Done():
				return
			case <-hangup:
				reloadAll(ctx, logger, reloads)
			}
		}
	}()
}

func reloadAll(ctx context.Context, logger *slog.Logger, reloads []func(context.Context) error) {
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
}
