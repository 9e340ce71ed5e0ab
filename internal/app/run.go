package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"plantstore/internal/logging"
	"plantstore/internal/operate"
	"plantstore/models"
	"plantstore/storage"
)

// Run serves until SHUTDOWN_DELAY after ctx is done, or until the store has stopped itself
// after a fault. Then it drains requests for SHUTDOWN_TIMEOUT at most. It is called once.
func (a *App) Run(ctx context.Context) error {
	leaving, leave := context.WithCancel(ctx)
	defer leave()
	if err := a.keepSeed(ctx); err != nil {
		return fmt.Errorf("keep the seed for a reset: %w", err)
	}
	go a.handleHangups(leaving, leave)
	tuneRuntime(a.inputs.Environ)
	a.banner()
	for _, notice := range a.notices {
		notice(ctx)
	}

	// leaving is done at the signal, when the store has stopped itself, or the terminal is closed: from then on the
	// server is not ready. serving is done SHUTDOWN_DELAY later: then requests drain.
	a.leaving = leaving
	go func() {
		select {
		case <-a.store.Stopped():
			leave() // the process exits, so that its supervisor restarts it
		case <-leaving.Done():
		}
	}()
	operator := a.newOperator()
	a.startOperate(operator, operate.Socket, a.control, "control socket", "commands cannot reach it") //nolint:contextcheck // App.Close ends it
	serving, drain := context.WithCancel(context.WithoutCancel(ctx))
	defer drain()
	defer context.AfterFunc(leaving, func() { a.delay(serving); drain() })()
	defer context.AfterFunc(serving, func() { a.logger.Info("shutting down: draining requests") })()
	for _, watch := range a.watches {
		go watch(serving)
	}
	a.notify(ctx, "READY=1")
	context.AfterFunc(leaving, func() { a.notify(ctx, "STOPPING=1") })
	a.startOperate(operator, operate.Admin, a.admin, "admin", "it has no probes and metrics") //nolint:contextcheck // App.Close ends it
	return errors.Join(a.server.Serve(serving, a.clients), faultOf(a.store))
}

// delay waits for SHUTDOWN_DELAY: load balancers notice that the server is not ready, while requests are still
// served, but connections close after the response. It ends early at a signal, or when the store has
// stopped itself, since it would refuse each create.
func (a *App) delay(ctx context.Context) {
	if a.config.ShutdownDelay == 0 || a.store.Fault() != nil {
		return
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	a.server.Leave()
	a.logger.Info("shutting down: not ready, still serving", "delay", a.config.ShutdownDelay.String())
	select {
	case <-ctx.Done():
	case <-a.store.Stopped():
	case <-time.After(a.config.ShutdownDelay):
	}
}

// faultOf returns why the store has stopped itself, if it has. It matches [storage.ErrCorrupt] if
// another start would not help.
func faultOf(store *storage.Store) error {
	fault := store.Fault()
	switch {
	case fault == nil:
		return nil
	case errors.Is(fault, storage.ErrCorrupt):
		return fmt.Errorf("the server exits: %w; run plantstore check, then plantstore restore", fault)
	}
	return fmt.Errorf("the server exits: the store stopped after a fault: %w; start it again, and run plantstore check if it does not start", fault)
}

// heapGrowth is the GOGC of the server. Its heap is small, and belongs to requests in progress: with
// the default of 100 the collector would run continuously.
const heapGrowth = 200

// tuneRuntime makes the garbage collector run less often, unless GOGC says how often.
func tuneRuntime(env map[string]string) {
	if env["GOGC"] == "" {
		debug.SetGCPercent(heapGrowth)
	}
}

// keepSeed keeps the plants with which an ephemeral server starts in memory: a reset does not need
// the file of --seed.
func (a *App) keepSeed(ctx context.Context) error {
	if !a.ephemeral() {
		return nil
	}
	a.seed = []storage.Record{}
	for record, err := range a.store.List(ctx, math.MinInt64) {
		if err != nil {
			return err
		}
		a.seed = append(a.seed, record)
	}
	return nil
}

// reset replaces all plants by the seed, and returns their number. It logs failures.
func (a *App) reset(ctx context.Context) (plants int64, err error) {
	if a.seed == nil {
		return 0, models.NewError(models.CodeForbidden, "only a server that was started with --ephemeral can be reset")
	}
	began := time.Now()
	if err := a.store.Reset(ctx, a.seed); err != nil {
		a.logger.ErrorContext(ctx, "reset failed", "cause", err.Error())
		return 0, err
	}
	a.creates.Clear()
	a.logger.InfoContext(ctx, "plants reset", "plants", len(a.seed), "duration_ms", float64(time.Since(began).Microseconds())/1000)
	return int64(len(a.seed)), nil
}

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
