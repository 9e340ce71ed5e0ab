package app

import (
	"context"
	"errors"
	"fmt"
	"io"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage"
)

// A CommandStore is the store that a command uses: a [storage.Store], or a [control.Client] of
// a server that has it open.
type CommandStore interface {
	control.Store
	io.Closer
}

// OpenCommandStore connects to the server that has the store open, or opens it for a command.
func OpenCommandStore(ctx context.Context, c *config.Config, o storage.Options) (CommandStore, error) {
	var dialErr error
	if c.Storage.Path != "" { // else the engine serves several processes
		client, err := control.Dial(ctx, c.Storage.Path)
		if err == nil {
			return client, nil
		}
		dialErr = err
	}
	store, err := OpenStore(ctx, c, o)
	switch {
	case err == nil:
		return store, nil
	case errors.Is(err, storage.ErrLocked):
		return nil, fmt.Errorf("database %s is %w, and no server responds for it (%w): stop that process if it is a server, else wait until it has ended",
			c.Storage.Path, storage.ErrLocked, dialErr)
	}
	return nil, err
}

// OfServer reports whether a store belongs to a running server.
func OfServer(s CommandStore) bool {
	_, ok := s.(*control.Client)
	return ok
}

// OpenStore opens the store in this process. The error matches [storage.ErrLocked] if
// another one has it open.
func OpenStore(ctx context.Context, c *config.Config, o storage.Options) (*storage.Store, error) {
	store, err := c.Engines.Open(ctx, c.Storage.URL, o)
	return store, AdviseDatabase(err)
}

// AdviseLocked returns err, or, if it is [storage.ErrLocked] because of a server, the advice to
// stop the server. other is an alternative, such as ", or name another file".
func AdviseLocked(ctx context.Context, database string, err error, other string) error {
	if !errors.Is(err, storage.ErrLocked) {
		return err
	}
	if _, runs := RunningServer(ctx, database); !runs {
		return err
	}
	return ServerRunsError(database, other)
}

// RunningServer returns the information of the server that runs on a database file, if one
// responds. An empty database has none.
func RunningServer(ctx context.Context, database string) (_ control.Info, runs bool) {
	if database == "" {
		return control.Info{}, false
	}
	client, err := control.Dial(ctx, database)
	if err != nil {
		return control.Info{}, false
	}
	_ = client.Close() // it has responded
	return client.Info(), true
}

// ServerRunsError returns the error of a command that does not work while a server runs.
func ServerRunsError(database, other string) error {
	return fmt.Errorf("a server runs on %s: stop it first%s", database, other)
}
