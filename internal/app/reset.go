package app

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"

	"plantstore/internal/admin"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// A seed is a copy of the database of an ephemeral server with its initial plants.
type seed struct {
	path   string
	plants int64
}

// keepSeed copies the database of an ephemeral server before the first request, so that a reset
// needs neither the file of --seed nor memory for the plants.
func (a *App) keepSeed(ctx context.Context) error {
	if a.options.Ephemeral == (storage.Location{}) {
		return nil
	}
	plants, err := a.store.Count(ctx)
	if err != nil {
		return err
	}
	s := &seed{path: filepath.Join(filepath.Dir(a.storage.Path), "seed.db"), plants: plants}
	file, err := os.OpenFile(s.path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(a.store.Snapshot(ctx, file), file.Close()); err != nil {
		return err
	}
	a.seed = s
	return nil
}

// reset replaces all plants by the seed, and returns their number. It logs failures, which stop
// the store. It returns [admin.ErrNotEphemeral] if the server is not ephemeral.
func (a *App) reset(ctx context.Context) (plants int64, err error) {
	if a.seed == nil {
		return 0, admin.ErrNotEphemeral
	}
	began := time.Now()
	if err := a.store.Reset(a.reopen); err != nil { //nolint:contextcheck // the engine outlives the request
		a.logger.ErrorContext(ctx, "reset failed", "cause", err.Error())
		return 0, err
	}
	a.logger.InfoContext(ctx, "plants reset", "plants", a.seed.plants, "duration", time.Since(began))
	return a.seed.plants, nil
}

// reopen replaces the database, which is closed, by the seed, and opens it.
func (a *App) reopen() (storage.Engine, error) {
	database := a.storage.Path
	for _, path := range []string{bbolt.JournalPath(database), database} {
		if err := os.RemoveAll(path); err != nil {
			return nil, err
		}
	}
	if err := a.seed.copyTo(database); err != nil {
		return nil, err
	}
	return bbolt.OpenEngine(database, a.storeOptions())
}

// copyTo copies the seed to a new file.
func (s *seed) copyTo(path string) error {
	from, err := os.Open(s.path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()                                    // it was only read
	to, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // the database
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}
