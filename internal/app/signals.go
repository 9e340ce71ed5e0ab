package app

import (
	"context"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"

	"plantstore/internal/logging"
)

// catchHangups catches SIGHUP until [App.Close]. One that arrives during the start does not end
// the process, but is handled when the server runs. Windows does not send it. SIGPIPE is ignored:
// the server continues if the reader of the log exits.
func (a *App) catchHangups() {
	signal.Ignore(syscall.SIGPIPE)
	a.hangups = make(chan os.Signal, 1) // signals that arrive while one is handled are merged
	signal.Notify(a.hangups, syscall.SIGHUP)
	a.onClose(func() error { signal.Stop(a.hangups); return nil })
}

// handleHangups reloads at each SIGHUP until ctx is done. If stderr was a terminal that is closed
// it calls stop: the system then sends SIGHUP, and a server that was started by hand ends with its
// terminal.
func (a *App) handleHangups(ctx context.Context, stop context.CancelFunc) {
	terminal := logging.IsTerminal(a.options.Stderr)
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangups:
			if terminal && !logging.IsTerminal(a.options.Stderr) {
				stop()
				continue
			}
			a.reload(ctx)
		}
	}
}

// notify sends a state to systemd, if it has started the process and expects one (sd_notify(3)).
func (a *App) notify(ctx context.Context, state string) {
	socket := a.options.Environ["NOTIFY_SOCKET"]
	if socket == "" {
		return
	}
	conn, err := new(net.Dialer).DialContext(context.WithoutCancel(ctx), "unixgram", socket)
	if err != nil {
		return // best effort: systemd ends a unit that is never ready
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, state)
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
