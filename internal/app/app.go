// Package app assembles the server from the other packages: [Open] prepares it, [App.Run] serves
// requests and [App.Close] releases everything. It also opens the store for the commands of
// internal/cli.
//
// The files of this package:
//
//	app.go                   open and close
//	listeners.go, keys.go    listeners, certificates and keys
//	server.go, admin.go      the server for clients, the interface for operators
//	run.go                   run: signals, shutdown, reset
//	banner.go                startup message
//	store.go                 for the commands
package app

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
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
	notices []func(context.Context) // log after the banner

	hangups  chan os.Signal // SIGHUP
	buffer   *logging.Buffer
	logger   *slog.Logger
	format   logging.Format
	reloads  []reload                // at SIGHUP
	watches  []func(context.Context) // keep the state current until the context is done
	tls      *tls.Config             // nil: plain HTTP
	expires  func() time.Time        // of the first certificate in use, zero: none
	clients  net.Listener            // for clients
	admin    net.Listener            // nil if there is none
	noAdmin  string                  // reason why there is none
	store    *storage.Store
	seed     []storage.Record // to reset to; nil: the server is not ephemeral
	verifier *auth.Verifier
	secrets  []auth.Secret // at startup, the signing one first
	inMemory auth.Secret   // the secret of an ephemeral server that cannot store one; nil: none
	emptied  bool          // the store had no plants at startup, although its secret is older
	observer *operate.Observer
	requests *requests.Recorder // nil: the server is not ephemeral
	creates  *operate.Creates
	server   *server.Server
	leaving  context.Context //nolint:containedctx // done when the shutdown begins, before SHUTDOWN_DELAY
	control  net.Listener    // of the control socket, nil if there is none
}

// Open prepares a server: it opens the listeners, so that clients can connect, the
// certificates, the store and the keys. Requests are served by [App.Run]. Errors of the
// configuration are of type [config.InvalidError]. The caller must close the App.
func Open(ctx context.Context, c *config.Config, in Inputs) (_ *App, err error) {
	a := &App{config: c, inputs: in, storage: c.Storage, observer: operate.NewObserver(), creates: operate.NewCreates()}
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
	if err := errors.Join(a.listenForClients(ctx), a.listenAdmin(ctx)); err != nil { // one attempt shows everything to fix
		if errors.Is(err, errInUse) && !a.ephemeral() { // perhaps by the same server
			err = errors.Join(ServerRuns(ctx, a.storage.Path, otherDatabase), err)
		}
		return nil, err
	}
	if err := a.listenControl(ctx); err != nil {
		return nil, err
	}
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
		return Advise(err, "name another place with --storage-url", " with --storage-url")
	}
	a.onClose(a.store.Close)
	a.store.ObserveCommits(a.observer.Commit)
	return nil
}

// onClose makes [App.Close] call release; the last one is called first.
func (a *App) onClose(release func() error) { a.closers = append(a.closers, release) }

// ephemeral reports whether the plants are temporary.
func (a *App) ephemeral() bool { return a.inputs.Ephemeral != (storage.Location{}) }

// BaseURL returns the URL under which clients reach the server.
func (a *App) BaseURL() string { return a.config.ServiceURL(a.address()) }

// Store returns the store, to be filled before [App.Run].
func (a *App) Store() *storage.Store { return a.store }

// Notice logs when the server is ready, after the banner.
func (a *App) Notice(level slog.Level, message string, attrs ...any) {
	a.notices = append(a.notices, func(ctx context.Context) {
		a.logger.Log(ctx, level, message, attrs...) //nolint:sloglint // constants of the callers
	})
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
