package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"plantstore/internal/files"
	"plantstore/internal/operate"
	"plantstore/storage"
)

// listenControl creates the control socket next to the configured database, also for an ephemeral
// server, so that commands find it. They wait until startOperate. It fails if another server has the socket, unless
// this one is ephemeral.
func (a *App) listenControl(ctx context.Context) error {
	database := a.config.Storage.Path
	if database == "" { // the engine serves several processes
		return nil
	}
	err := files.MkdirAll(filepath.Dir(database), dirPerm)
	if err == nil {
		a.control, err = operate.Listen(ctx, database)
	}
	switch {
	case err == nil:
		a.onClose(func() error { _ = a.control.Close(); return nil }) // it may be closed already
	case errors.Is(err, files.ErrListening) && !a.ephemeral():
		return cmp.Or(ServerRuns(ctx, database, otherDatabase),
			fmt.Errorf("a server with --ephemeral has the control socket of %s: stop it first, or set STORAGE_URL for it", database))
	default:
		a.Notice(slog.LevelWarn, "no control socket", "cause", err.Error(),
			"hint", "commands do not reach this server; if they reach another one, stop that, or set STORAGE_URL in the environment of one of them")
	}
	return nil
}

// newOperator returns the interface for operators.
func (a *App) newOperator() *operate.Operator {
	place := DataPlace(a.storage) + ", read from the running server"
	if a.seed != nil {
		place = "temporary plants, read from the running server"
	}
	return &operate.Operator{
		Info: operate.Info{
			Version: operate.ReadVersion().String(), BaseURL: a.BaseURL(), Ephemeral: a.seed != nil, Place: place,
			MaxBodyBytes: a.config.MaxBodyBytes, Started: time.Now(), TokenCommand: a.tokenCommand(),
		},
		Store: a.store, Problem: a.problem, Reset: a.reset, Requests: a.requests, Creates: a.creates,
		Metrics: operate.Metrics{
			Version: operate.ReadVersion().Release, Observer: a.observer,
			Store: a.store.Stats, Server: a.server.Stats, Tokens: a.verifier.Stats, CertificateExpires: a.expires, Emptied: a.emptied,
		},
		Pprof: a.config.Pprof, Logger: a.logger,
	}
}

// startOperate serves the operator on a listener, unless that is nil, until [App.Close].
func (a *App) startOperate(operator *operate.Operator, on operate.Listener, listener net.Listener, name, without string) {
	if listener == nil {
		return
	}
	logger := a.logger.With("listener", name)
	server := operate.Serve(listener, operator.Handler(on), logger, func(err error) {
		logger.Error("listener failed", "cause", err.Error(), "hint", "restart the server: "+without)
	})
	a.onClose(server.Close)
}

// problem returns why the server should not get requests, "" if it should, and the cause for the log.
// While it is shutting down, requests are still served or drained.
func (a *App) problem() (problem string, cause error) {
	ready, fault := a.store.Ready(), a.store.Fault()
	switch {
	case errors.Is(fault, storage.ErrCorrupt):
		return "the database is corrupt: the store stopped itself after a fault, and the server exits", ready
	case fault != nil:
		return "the disk or the database file has failed: the store stopped itself after a fault, and the server exits", ready
	case a.leaving.Err() != nil:
		return "the server is shutting down", ready
	case errors.Is(ready, storage.ErrNoSpace):
		return "no space is left for the database", ready
	case ready != nil && a.storage.Path == "":
		return "the engine is unreachable or takes no writes", ready
	case ready != nil:
		return "the last commit has failed", ready
	case a.verifier.Ready() != nil:
		return "no usable keys of the issuer", a.verifier.Ready()
	}
	return "", nil
}
