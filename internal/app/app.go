// Package app assembles the server from the other packages: [Open] prepares it, [App.Run] serves
// requests and [App.Close] releases everything. It also opens the store for the commands of
// internal/cli.
//
// The files of this package:
//
//	app.go                                     open, run and close
//	listeners.go, keys.go                      listeners, certificates and keys
//	server.go, admin.go                        the server for clients, the admin listener
//	banner.go                                  startup message
//	signals.go, delay.go, reset.go             events of a running server
//	store.go, advice.go                        for the commands
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"plantstore/internal/config"
	"plantstore/internal/logging"
	"plantstore/internal/operate"
	"plantstore/internal/requests"
	"plantstore/internal/server"
	"plantstore/middleware/auth"
	"plantstore/storage"
)

// Inputs are those of a server beyond its configuration.
type Inputs struct {
	Environ      map[string]string            // GOGC overrides the tuning of the garbage collector; NO_COLOR and TERM=dumb turn off colors, TERM may turn on links; NOTIFY_SOCKET is the socket of systemd
	Stderr       io.Writer                    // the log
	TokenCommand string                       // the command that gets a token, for the banner
	Ephemeral    storage.Location             // of a temporary database, which can be reset, instead of the configured store; zero: none
	Command      func(words ...string) string // a command for the configured database, for the banner
}

// An App is a server that is prepared, or runs.
type App struct {
	config  *config.Config
	inputs  Inputs
	storage storage.Location // of the plants
	closers []func() error
	notices []func(*slog.Logger)

	hangups   chan os.Signal // SIGHUP
	buffer    *logging.Buffer
	logger    *slog.Logger
	format    logging.Format
	reloads   []reload                // at SIGHUP
	watches   []func(context.Context) // keep the state current until the context is done
	tls       *tls.Config             // nil: plain HTTP
	expires   func() time.Time        // of the first certificate in use, zero: none
	listeners *listeners
	store     *storage.Store
	seed      []storage.Record // to reset to; nil: the server is not ephemeral
	verifier  *auth.Verifier
	secrets   []auth.Secret // at startup, the signing one first
	inMemory  auth.Secret   // the secret of an ephemeral server that cannot store one; nil: none
	emptied   bool          // the store had no plants at startup, although its secret is older
	observer  *operate.Observer
	requests  *requests.Recorder // nil: the server is not ephemeral
	creates   *operate.Creates
	server    *server.Server
	leaving   context.Context //nolint:containedctx // done when the shutdown begins, before SHUTDOWN_DELAY
	control   net.Listener    // of the control socket, nil if there is none
	otherRuns bool            // another server has the control socket
}

// Open prepares a server: it opens the listeners, so that clients can connect, the
// certificates, the store and the keys. Requests are served by [App.Run]. Errors of the
// configuration are of type [config.InvalidError]. The caller must close the App.
func Open(ctx context.Context, c *config.Config, in Inputs) (_ *App, err error) {
	a := &App{config: c, inputs: in, storage: c.Storage, observer: operate.NewObserver(), creates: new(operate.Creates)}
	if a.ephemeral() {
		a.storage, a.requests = in.Ephemeral, requests.NewRecorder()
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
		}
	}()
	a.catchHangups()
	a.format = logFormat(in.Stderr, c, in.Environ)
	log := in.Stderr
	if a.format == logging.Color { // the escaping writer would escape the colors
		log = logging.Underlying(log)
	}
	a.logger, a.buffer = logging.New(log, a.format, c.LogLevel)
	a.onClose(func() error { a.buffer.Flush(); return nil })
	if err := a.openCertificates(); err != nil {
		return nil, err
	}
	if a.listeners, err = listenAll(ctx, c); err != nil {
		if errors.Is(err, errInUse) && !a.ephemeral() { // perhaps by the same server
			err = errors.Join(ServerRuns(ctx, a.storage.Path, otherDatabase), err)
		}
		return nil, err
	}
	a.onClose(func() error { a.listeners.close(); return nil })
	a.listenControl(ctx)
	if err := a.openStore(ctx); err != nil {
		return nil, err
	}
	if err := a.openKeys(ctx); err != nil {
		return nil, err
	}
	if err := a.newServer(); err != nil { //nolint:contextcheck // each request has its own
		return nil, err
	}
	return a, nil
}

// otherDatabase is the alternative of a server to [ServerRuns].
const otherDatabase = ", or name another database with --storage-url or STORAGE_URL"

func (a *App) openStore(ctx context.Context) (err error) {
	a.store, err = a.config.Engines.Open(ctx, a.storage.URL, storage.Options{Logger: a.logger})
	if err != nil {
		err = Advise(err, "name another place with --storage-url", " with --storage-url")
		if a.control == nil { // else the control socket is this server's own
			err = AdviseLocked(ctx, a.storage.Path, err, otherDatabase)
		}
		return err
	}
	a.onClose(a.store.Close)
	if a.otherRuns && !a.ephemeral() {
		return fmt.Errorf("a server with --ephemeral has the control socket of %s: stop it first, or set STORAGE_URL for it", a.storage.Path)
	}
	a.store.ObserveCommits(a.observer.Commit)
	return nil
}

// onClose makes [App.Close] call release; the last one is called first.
func (a *App) onClose(release func() error) { a.closers = append(a.closers, release) }

// ephemeral reports whether the plants are temporary.
func (a *App) ephemeral() bool { return a.inputs.Ephemeral != (storage.Location{}) }

// BaseURL returns the URL under which clients reach the server.
func (a *App) BaseURL() string { return a.config.ServiceURL(a.listeners.address()) }

// Store returns the store, to be filled before [App.Run].
func (a *App) Store() *storage.Store { return a.store }

// Notice registers a function that logs when the server is ready, after the banner.
func (a *App) Notice(log func(*slog.Logger)) { a.notices = append(a.notices, log) }

// Run serves until SHUTDOWN_DELAY after ctx is done, or until the store has stopped itself
// after a fault. Then it drains requests for SHUTDOWN_TIMEOUT at most. It is called once.
func (a *App) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx) // stop ends the server when its terminal is closed
	defer stop()
	if err := a.keepSeed(ctx); err != nil {
		return fmt.Errorf("keep the seed for a reset: %w", err)
	}
	go a.handleHangups(ctx, stop)
	tuneRuntime(a.inputs.Environ)
	a.announce()

	// leaving is done at the signal, or when the store has stopped: from then on the server is not
	// ready. serving is done SHUTDOWN_DELAY later: then requests drain.
	leaving, cancel := untilStopped(ctx, a.store)
	defer cancel()
	a.leaving = leaving
	operator := a.newOperator()
	a.startOperate(operator, operate.Socket, a.control, "control socket", "commands cannot reach it") //nolint:contextcheck // App.Close ends it
	serving, cancel := delayed(leaving, a.leave)
	defer cancel()
	defer context.AfterFunc(serving, func() { a.logger.Info("shutting down: draining requests") })()
	for _, watch := range a.watches {
		go watch(serving)
	}
	a.notify(ctx, "READY=1")
	context.AfterFunc(leaving, func() { a.notify(ctx, "STOPPING=1") })
	a.startOperate(operator, operate.Admin, a.listeners.admin, "admin", "it has no probes and metrics") //nolint:contextcheck // App.Close ends it
	return errors.Join(a.server.Serve(serving, a.listeners.clients), faultOf(a.store))
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

// Close releases what [Open] has opened, the store before the listeners and the log. It
// is called after [App.Run] has returned, or without it.
func (a *App) Close() error {
	var errs []error
	for _, release := range slices.Backward(a.closers) {
		errs = append(errs, release())
	}
	a.closers = nil
	return errors.Join(errs...)
}

// untilStopped returns a context that is also done when the store stops itself after a fault:
// the process then drains requests and exits, so that its supervisor restarts it.
func untilStopped(ctx context.Context, store *storage.Store) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-store.Stopped():
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
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
