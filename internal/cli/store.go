package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"plantstore/internal/app"
	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage"
)

// withStore opens the store, or connects to the server that has it open, and calls run.
func withStore(ctx context.Context, c *config.Config, o storage.Options, run func(context.Context, app.Store) error) (err error) {
	store, err := app.OpenStore(ctx, c, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = run(ctx, store)
	if errors.Is(err, storage.ErrCorrupt) {
		return findings("%v: %s", err, remedy)
	}
	return err
}

// temporary reports whether the store is that of a running server with --ephemeral.
func temporary(store app.Store) bool {
	server, ok := store.(*control.Client)
	return ok && server.Info().Ephemeral
}

func requireServer(ctx context.Context, c *config.Config) (*control.Client, error) {
	server, err := app.Server(ctx, c.Storage.Path)
	if err == nil && server == nil {
		if _, err := control.Dial(ctx, c.Storage.Path); errors.Is(err, fs.ErrPermission) { // a server may run
			return nil, app.AdviseRead(&fs.PathError{Op: "connect", Path: control.SocketPath(c.Storage.Path), Err: syscall.EACCES}, "")
		}
		err = fmt.Errorf("no server runs on %s: start one, or run this in its working directory, with the same --storage-url", app.DataPlace(c.Storage))
	}
	return server, err
}
