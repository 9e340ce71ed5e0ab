package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
	"syscall"

	"plantstore/internal/config"
	"plantstore/internal/files"
	"plantstore/internal/operate"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// lockedAttempts is how often OpenStore tries to open a database that is locked, for a second each.
const lockedAttempts = 10

// A Store is what commands need of the plants: a [storage.Store], or the client of a running server.
type Store interface {
	Get(ctx context.Context, id int64) (models.Plant, error)
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (plants int64, err error)
	CreateAll(ctx context.Context, records []storage.Record) []error
	DryRun(ctx context.Context, records []storage.Record) []error
	Snapshot(ctx context.Context, w io.Writer) error
	Close() error
}

// OpenStore returns the *[operate.Client] of the server of the database, or else opens the database
// itself. It waits up to ten seconds for a server that is starting, and for another command that has the
// database open.
func OpenStore(ctx context.Context, c *config.Config, o storage.Options) (Store, error) {
	for attempt := 1; ; attempt++ {
		client, err := Connect(ctx, c.Storage.Path)
		if !errors.Is(err, operate.ErrNoServer) {
			return client, err
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

// Connect returns the client of the server of a database. The error matches [operate.ErrNoServer] if there is
// none, or the database is empty: an engine over a network serves several processes.
func Connect(ctx context.Context, database string) (*operate.Client, error) {
	if database == "" {
		return nil, operate.ErrNoServer
	}
	client, err := operate.Dial(ctx, database)
	switch {
	case err == nil, errors.Is(err, operate.ErrNoServer):
		return client, err
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
	client, err := Connect(ctx, database)
	switch {
	case errors.Is(err, operate.ErrNoServer):
		return nil
	case err != nil:
		return err
	}
	_ = client.Close() // it has responded
	if client.Info().Ephemeral {
		return nil
	}
	return fmt.Errorf("a server runs on %s: stop it first%s", database, other)
}

// DataPlace returns the location of the plants, without a password that a URL may contain.
func DataPlace(l storage.Location) string { return cmp.Or(l.Path, l.Scheme) }

// Advise adds a remedy to an error of a file or its directory. missing is the remedy if it does
// not exist, and place the option that names another one, such as " with --storage-url".
func Advise(err error, missing, place string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		denied := cmp.Or(files.Denied(err), "run this as the owner of the directory")
		if owner, _, root := strings.Cut(denied, ": chown"); root && place == "" { // an output, in a directory of root
			return fmt.Errorf("%w; %s: name another place", err, owner)
		}
		return fmt.Errorf("%w; %s, or name another place%s", err, denied, place)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; make it writable, or name another place%s", err, place)
	case bbolt.NoSpace(err):
		return fmt.Errorf("%w; free some space on that disk, and try again", err)
	}
	return AdviseRead(err, missing)
}

// AdviseDatabase adds a remedy to an error of the database.
func AdviseDatabase(err error) error {
	return Advise(err, "name the database with --storage-url; plantstore serve creates it, but not with --ephemeral", " with --storage-url")
}

// AdviseRead is [Advise] for a file that is only read.
func AdviseRead(err error, missing string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; %s", err, missing)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; %s", err, cmp.Or(files.Denied(err), "run this as the owner of the file, or let this user read it"))
	}
	return err
}
