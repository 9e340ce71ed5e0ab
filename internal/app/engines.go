package app

import (
	"context"
	"errors"

	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/etcd"
	"plantstore/storage/postgres"
)

// BboltScheme is the scheme of storage URLs of the embedded engine.
const BboltScheme = "bbolt"

// Engines returns the storage engines of this program by the scheme of their URLs.
func Engines() storage.Engines {
	return storage.Engines{
		BboltScheme: bbolt.Open,
		"etcd":      etcd.Open,
		"postgres":  postgres.Open, "postgresql": postgres.Open,
	}
}

// openStore opens the store.
func (a *App) openStore(ctx context.Context) (err error) {
	a.store, err = Engines().Open(ctx, a.storage.URL, storage.Options{Logger: a.logger})
	switch {
	case errors.Is(err, storage.ErrLocked) && a.control == nil: // another server has the control socket
		return serverRuns(a.storage.Path, ", or name another database with --storage-url or STORAGE_URL")
	case err != nil:
		return Advise(err, "name another place with --storage-url", " with --storage-url")
	}
	a.onClose(a.store.Close)
	a.store.ObserveCommits(a.observer.Commit)
	return nil
}
