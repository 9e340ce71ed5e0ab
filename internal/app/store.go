package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"plantstore/internal/config"
	"plantstore/internal/operate"
	"plantstore/models"
	"plantstore/storage"
)

// lockedAttempts is how often OpenStore tries to open a database that is locked, for a second each.
const lockedAttempts = 10

// A Store is what commands need of the plants: a [storage.Store], or the client of a running server.
type Store interface {
	Get(ctx context.Context, id int64) (models.Plant, error)
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (plants int64, err error)
	CreateAll(ctx context.Context, records []storage.Record) []error
	Snapshot(ctx context.Context, w io.Writer) error
	Close() error
}

// OpenStore returns the *[operate.Client] of the server of the database, or else opens the database
// itself. It waits up to ten seconds for a server that is starting, and for another command that has the
// database open.
func OpenStore(ctx context.Context, c *config.Config, o storage.Options) (Store, error) {
	for attempt := 1; ; attempt++ {
		server, err := Connect(ctx, c.Storage.Path)
		if err != nil {
			return nil, err
		}
		if server != nil {
			return server, nil
		}
		store, err := OpenDatabase(ctx, c, o)
		if err == nil {
			return store, nil
		}
		if !errors.Is(err, storage.ErrLocked) || ctx.Err() != nil || attempt == lockedAttempts {
			return nil, err
		}
	}
}

// OpenDatabase opens the store in this process. The error matches [storage.ErrLocked] if another one
// has it open.
func OpenDatabase(ctx context.Context, c *config.Config, o storage.Options) (*storage.Store, error) {
	store, err := c.Engines.Open(ctx, c.Storage.URL, o)
	return store, AdviseDatabase(err)
}

// Connect returns the client of the server of a database. It returns nil if there is none, or
// the database is empty: an engine over a network serves several processes.
func Connect(ctx context.Context, database string) (*operate.Client, error) {
	if database == "" {
		return nil, nil //nolint:nilnil // as the comment says
	}
	client, err := operate.Dial(ctx, database)
	switch {
	case err == nil:
		return client, nil
	case errors.Is(err, operate.ErrNoServer):
		return nil, nil //nolint:nilnil // as above
	case errors.Is(ctx.Err(), context.Canceled):
		return nil, ctx.Err()
	case errors.As(err, new(*operate.VersionError)):
		return nil, fmt.Errorf("%s: %w", database, err)
	}
	return nil, fmt.Errorf("the server on %s is starting, or does not respond: try again when it is ready: %w", database, err)
}

// ServerRuns returns an error if a server has the database open, or is starting. other is an alternative,
// such as ", or name another file". A server with --ephemeral has another database open.
func ServerRuns(ctx context.Context, database, other string) error {
	server, err := Connect(ctx, database)
	if server == nil {
		return err
	}
	_ = server.Close() // it has responded
	if server.Info().Ephemeral {
		return nil
	}
	return fmt.Errorf("a server runs on %s: stop it first%s", database, other)
}

// AdviseLocked returns err, or the error of ServerRuns if that is why the database is locked.
func AdviseLocked(ctx context.Context, database string, err error, other string) error {
	if !errors.Is(err, storage.ErrLocked) {
		return err
	}
	return cmp.Or(ServerRuns(ctx, database, other), err)
}
