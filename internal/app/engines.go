package app

import (
	"context"
	"fmt"

	"plantstore/internal/audit"
	"plantstore/internal/config"
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

// openStore opens the store, and the audit log for its creates.
func (a *App) openStore(ctx context.Context) (err error) {
	c := a.config
	a.store, err = Engines().Open(ctx, c.Storage.URL, storage.Options{
		Logger: a.logger, Ephemeral: a.options.Ephemeral, JournalBytes: c.JournalBytes,
	})
	if err != nil {
		return AdviseLocked(ctx, c.Storage.Path, Advise(err, "name another place with --storage-url", " with --storage-url"), ", or name another database with --storage-url or STORAGE_URL")
	}
	a.onClose(a.store.Close)
	a.store.ObserveCommits(a.observer.Commit)
	if file := a.store.Stats().File; file != nil && file.Replayed > 0 {
		a.logger.Info("journal replayed", "plants", file.Replayed, "cause", "the last server was killed, or could not close the database")
	}
	if c.AuditLog == "" {
		return nil
	}
	open := audit.File(c.AuditLog)
	if c.AuditLog == config.AuditStdout {
		open = audit.Stream(a.options.Stdout)
	}
	log, err := audit.Open(open, a.logger)
	if err != nil {
		return fmt.Errorf("AUDIT_LOG (--audit-log): %w", AdviseRead(err, "create its directory first"))
	}
	a.store.RecordWith(log)
	a.reloads = append(a.reloads, log.Reopen)
	return nil
}
