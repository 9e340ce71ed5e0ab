package app

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net"
	"os"
	"os/signal"
	"strings"
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
	terminal := logging.IsTerminal(a.inputs.Stderr)
	for {
		select {
		case <-ctx.Done():
			return
		case <-a.hangups:
			if terminal && !logging.IsTerminal(a.inputs.Stderr) {
				stop()
				continue
			}
			a.reload(ctx)
		}
	}
}

// notify sends a state to systemd, if it has started the process and expects one (sd_notify(3)).
func (a *App) notify(ctx context.Context, state string) {
	socket := a.inputs.Environ["NOTIFY_SOCKET"]
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

// A reload reloads one thing; after an error the previous one stays in use.
type reload struct {
	of string // for the log
	do func(context.Context) error
}

// reload calls all reloads, each even if others fail: files can be reloaded while the issuer is
// down. It logs what was reloaded and what was not.
func (a *App) reload(ctx context.Context) {
	var done, kept, causes []string
	for _, reload := range a.reloads {
		if err := reload.do(ctx); err != nil {
			kept, causes = append(kept, reload.of), append(causes, err.Error())
		} else {
			done = append(done, reload.of)
		}
	}
	reloaded := slog.String("reloaded", cmp.Or(strings.Join(done, "; "), "nothing"))
	if kept == nil {
		a.logger.Info("reloaded", reloaded)
		return
	}
	a.logger.Error("reload failed", reloaded, slog.String("kept", strings.Join(kept, "; ")),
		slog.String("cause", strings.Join(causes, "; ")), slog.String("hint", "fix the error and send SIGHUP again"))
}
