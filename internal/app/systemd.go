package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/coreos/go-systemd/v22/daemon"

	"plantstore/internal/wait"
)

// notifySystemd notifies systemd, if it has started this process with Type=notify, that the
// server is ready, that it is alive (WatchdogSec=) until serving is done, and that it shuts down
// when leaving is done.
func notifySystemd(leaving, serving context.Context, logger *slog.Logger) {
	interval, err := daemon.SdWatchdogEnabled(false)
	if err != nil {
		logger.Warn("systemd watchdog is off", "cause", err.Error())
	}
	supervise(leaving, serving, interval, func(state string) {
		if _, err := daemon.SdNotify(false, state); err != nil {
			logger.Warn("systemd notification failed", "state", state, "cause", err.Error())
		}
	})
}

// supervise sends notifications until serving is done. systemd restarts the server if there is none
// for an interval, unless that is 0.
func supervise(leaving, serving context.Context, interval time.Duration, send func(state string)) {
	send(daemon.SdNotifyReady)
	context.AfterFunc(leaving, func() { send(daemon.SdNotifyStopping) })
	if interval > 0 {
		go wait.Every(serving, interval/2, func() { send(daemon.SdNotifyWatchdog) })
		send(daemon.SdNotifyWatchdog)
	}
}
