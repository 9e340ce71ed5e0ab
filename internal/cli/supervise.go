package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"plantstore/storage"
)

// supervised tells systemd, if that has started this process and wants to know
// (Type=notify), that the server is ready, then that it is alive (WatchdogSec=),
// and when ctx is done that it stops.
func supervised(ctx context.Context, store storage.Store, logger *slog.Logger) {
	tell := func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			logger.Warn("systemd cannot be told how the server is", "state", state, "cause", err.Error())
		}
	}
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("the watchdog of systemd is off", "cause", err.Error())
	}
	tell(daemon.SdNotifyReady)
	context.AfterFunc(ctx, func() { tell(daemon.SdNotifyStopping) })
	if interval > 0 {
		go watchdog(ctx, interval/2, store, func() { tell(daemon.SdNotifyWatchdog) })
	}
}

// watchdog calls alive at each interval as long as the store answers and its
// commits end, until ctx is done. A store that has stopped itself ends the server
// anyway; one that is only out of reach is no reason to start it anew.
func watchdog(ctx context.Context, interval time.Duration, store storage.Store, alive func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		if !errors.Is(store.Ready(), storage.ErrStuck) {
			alive()
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
