package cli

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/urfave/cli/v3"

	"plantstore/internal/apidocs"
	"plantstore/internal/backlog"
	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/internal/meter"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/etcd"
	"plantstore/storage/postgres"
)

func newServe(p *Process) *cli.Command {
	return &cli.Command{
		Name:  "serve",
		Usage: "run the server until SIGTERM or SIGINT",
		Description: "Listens on 127.0.0.1:8080 and keeps the plants in data/plants.db unless told otherwise.\n" +
			"SIGTERM and SIGINT let requests in flight end; a second one does not wait.\n" +
			"Example, for a workshop:\n" +
			"  plantstore serve --ephemeral --seed docs/samples/plants.jsonl",
		Flags: append(optionFlags(), workshopFlags()...),
		Action: func(ctx context.Context, cmd *cli.Command) (err error) {
			remove, err := ephemeral(cmd)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, remove()) }()
			c, err := loadServerConfig(p, cmd)
			if err != nil {
				return err
			}
			if err := checkAuditLog(cmd, c); err != nil {
				return err
			}
			return serve(ctx, p, cmd, c)
		},
	}
}

// bboltScheme is that of storage URLs of the embedded engine.
const bboltScheme = "bbolt"

// engines are the storage engines of this program. They tell logger what they
// find while nobody asks.
func engines(logger *slog.Logger) storage.Engines {
	return storage.Engines{
		bboltScheme: bbolt.Opener(logger),
		"etcd":      etcd.Opener(logger),
		"postgres":  postgres.Open, "postgresql": postgres.Open,
	}
}

// serve runs the server until ctx is done or a signal arrives.
func serve(ctx context.Context, p *Process, cmd *cli.Command, c *config.Config) (err error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	caught := catchSignals()
	defer caught.release()

	log := backlog.New(p.Stderr, lostLines(p, c))
	defer func() { _ = log.Close() }() // nobody is left to tell
	level := new(slog.LevelVar)
	logger, text := newLogger(log, isTerminal(p.Stderr), level, c)
	certificates, err := newCertificates(c, logger)
	if err != nil {
		return err
	}
	listening, err := listenAll(ctx, c, logger)
	if err != nil {
		return err
	}
	defer listening.close()

	base := baseURL(c, listening.address())
	description, err := apidocs.New(base)
	if err != nil {
		return err
	}
	page, err := newPage(c)
	if err != nil {
		return err
	}

	connections, err := connectionsFor(c, maxOpenFiles(), logger)
	if err != nil {
		return err
	}
	store, reopenAudit, err := openAudited(ctx, p, c, logger)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	keys, err := openKeyring(ctx, c, store, logger) // it may make a secret, beside what is a store for sure
	if err != nil {
		return err
	}
	logSeed, err := seed(ctx, p, cmd, c, store)
	if err != nil {
		return err
	}
	caught.toggleDebugOn(ctx, logger, level)
	caught.reloadOn(ctx, logger, keys.reload, keys.reloadIssuer, certificates.Reload, reopenAudit, onTerminalGone(p, stop))

	counted := &control.Counted{Store: store}
	closeControl, controlErr := startControl(ctx, c, counted, logger)
	defer func() { err = errors.Join(err, closeControl()) }() // before the store

	tuneRuntime(p, connections, c)
	greet(log, p, c, text, base, listening)
	keys.warn()
	warnOfConfig(c, listening.address(), logger)
	logSeed(logger)
	if controlErr != nil {
		logger.Warn("there is no control socket: the commands for plants need this server stopped", "cause", controlErr.Error())
	}
	ctx, cancel := untilStopped(ctx, store)
	defer cancel()
	defer context.AfterFunc(ctx, func() { logger.Info("stopping: what is in flight is still answered") })()
	go returnMemory(ctx)
	go keys.watch(ctx)
	go certificates.Watch(ctx)
	supervised(ctx, store, logger)
	requests := meter.NewRequests()
	s := newServer(c, logger, connections, certificates.TLS(), routes.Options{
		Store: counted, Authored: c.AuditLog != "", Verify: keys.verify, Description: description, Page: page, Observe: requests.Observe,
	})
	stopAdmin := startAdmin(ctx, p, c, listening.admin, watched{store, requests, s, keys.verifier, log, certificates}, logger)
	err = s.Serve(ctx, listening.clients...)
	stopAdmin()
	return errors.Join(err, faultOf(store))
}

// newServer returns the server for clients, with those routes.
func newServer(c *config.Config, logger *slog.Logger, connections int, secure *tls.Config, options routes.Options) *server.Server {
	options.Logger, options.MaxBodyBytes, options.Origins = logger, c.MaxBodyBytes, c.CORSOrigins
	return server.New(server.Config{
		Handler:         routes.New(options),
		TLS:             secure,
		CORSHeader:      corsHeader(options.Origins),
		Logger:          logger,
		MaxConnections:  connections,
		HeaderTimeout:   c.HeaderTimeout,
		RequestTimeout:  c.RequestTimeout,
		IdleTimeout:     c.IdleTimeout,
		ShutdownTimeout: c.ShutdownTimeout,
	})
}

// startControl offers the store to the other commands of this program, if it is in
// a file, which they cannot open beside this one.
func startControl(ctx context.Context, c *config.Config, store *control.Counted, logger *slog.Logger) (closeIt func() error, err error) {
	nothing := func() error { return nil }
	if c.Storage.Path == "" {
		return nothing, nil
	}
	listener, err := control.Listen(ctx, c.Storage.Path)
	if err != nil {
		return nothing, err
	}
	//nolint:contextcheck // it ends when it is closed, before the store
	return control.Start(listener, store, c.MaxBodyBytes, logger).Close, nil
}

// untilStopped returns a context that is done, too, when the store stops itself
// after a fault: the process then answers what is in flight and ends, so that its
// supervisor starts it anew.
func untilStopped(ctx context.Context, store storage.Store) (context.Context, context.CancelFunc) {
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

// faultOf returns why the store has stopped itself, if it has.
func faultOf(store storage.Store) error {
	select {
	case <-store.Stopped():
		return fmt.Errorf("the server ends: %w; start it again, and run plantstore check if it does not start", store.Ready())
	default:
		return nil
	}
}

// newPage returns the page about the service, nil if there is to be none.
func newPage(c *config.Config) (*apidocs.Page, error) {
	if !c.Docs {
		return nil, nil //nolint:nilnil // so says the comment
	}
	return apidocs.NewPage()
}

// corsHeader returns what the server asks about its own refusals, nil if CORS is
// off.
func corsHeader(origins middleware.Origins) func(origin string) http.Header {
	if len(origins) == 0 {
		return nil
	}
	return origins.Header
}
