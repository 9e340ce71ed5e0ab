package app

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"plantstore/internal/wait"
	"plantstore/storage"
)

// notifySystemd notifies systemd, if it has started this process with Type=notify, that the
// server is ready, that it is alive (WatchdogSec=) until serving is done, and that it shuts down
// when leaving is done.
func notifySystemd(leaving, serving context.Context, ready func() error, logger *slog.Logger) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("systemd watchdog is off", "cause", err.Error())
	}
	supervise(leaving, serving, interval, ready, func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			logger.Warn("systemd notification failed", "state", state, "cause", err.Error())
		}
	})
}

// supervise sends notifications until serving is done. systemd restarts the server if there is none
// for an interval, unless that is 0.
func supervise(leaving, serving context.Context, interval time.Duration, ready func() error, send func(state string)) {
	send(daemon.SdNotifyReady)
	context.AfterFunc(leaving, func() { send(daemon.SdNotifyStopping) })
	if interval > 0 {
		go watchdog(serving, interval/2, ready, func() { send(daemon.SdNotifyWatchdog) })
	}
}

// watchdog calls alive at each interval, unless a commit hangs, until ctx is done. A store
// that has stopped itself ends the server anyway; one that is unavailable is not a reason to
// restart it.
func watchdog(ctx context.Context, interval time.Duration, ready func() error, alive func()) {
	unlessHanging := func() {
		if !errors.Is(ready(), storage.ErrCommitHangs) {
			alive()
		}
	}
	unlessHanging()
	wait.Every(ctx, interval, unlessHanging)
}
