package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// An access says what a command does with the store.
type access int

const (
	forReading access = iota // it makes and changes nothing
	forWriting
)

// withStore runs what a command does with the store: on the file, or, while a
// server has it open, through that. SIGINT and SIGTERM end its context.
func withStore(ctx context.Context, c *config.Config, a access, run func(context.Context, storage.Store) error) (err error) {
	ctx, stop := untilSignal(ctx)
	defer stop()
	store, err := openStore(ctx, c, a)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	err = ended(ctx, run(ctx, store))
	if errors.Is(err, storage.ErrCorrupt) {
		return findings("%v: %s", err, mend)
	}
	return err
}

// untilSignal returns a context that SIGINT or SIGTERM ends. A second one ends
// the process.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// ended returns the error of a command that has ended, without the library's words
// for a signal.
func ended(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), context.Canceled.Error(), "interrupted"))
}

// openStore opens the store, or reaches the server that has it open.
func openStore(ctx context.Context, c *config.Config, a access) (storage.Store, error) {
	if c.Storage.Path == "" { // no file: the engine lets many in
		return openEngine(ctx, c, a)
	}
	// A server that answers has the file open for sure. Trying the file first
	// would come to the same, after waiting for its lock.
	client, dialErr := control.Dial(ctx, c.Storage.Path)
	if dialErr == nil {
		return client, nil
	}
	store, err := openEngine(ctx, c, a)
	if !errors.Is(err, storage.ErrLocked) {
		return store, err
	}
	if !errors.Is(dialErr, context.DeadlineExceeded) { // a server may have just started
		client, dialErr = control.Dial(ctx, c.Storage.Path)
	}
	if dialErr != nil {
		return nil, fmt.Errorf("database %s is %w, and no server answers for it (%w): wait until that process has ended",
			c.Storage.Path, storage.ErrLocked, dialErr)
	}
	return client, nil
}

func openEngine(ctx context.Context, c *config.Config, a access) (storage.Store, error) {
	engines := engines(slog.New(slog.DiscardHandler))
	open := engines.OpenReadOnly
	if a == forWriting {
		open = engines.Open
	}
	store, err := open(ctx, c.StorageURL)
	return store, advised(err)
}

// advised adds to an error of the database's file what can be done about it.
func advised(err error) error {
	return adviseOn(err, "name the database with --storage-url, or run plantstore serve first", " with --storage-url")
}

// advisedFile is advised for another file that a command writes.
func advisedFile(err error) error { return adviseOn(err, "make its folder first", "") }

// adviseOn is advised with what helps where something is missing, and how another
// place is named.
func adviseOn(err error, missing, how string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return adviseMissing(err, missing)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run this as the user whose folder it is, or name another place%s", err, how)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; make it writable, or name another place%s", err, how)
	case bbolt.NoSpace(err):
		return fmt.Errorf("%w; make room on that disk, and try again", err)
	}
	return err
}

// adviseMissing adds to the error of a file what helps if it is not there, or is
// somebody else's.
func adviseMissing(err error, advice string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; %s", err, advice)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; run this as the user whose file it is, or give this one the right to it", err)
	}
	return err
}
