package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/urfave/cli/v3"

	"plantstore/internal/audit"
	"plantstore/internal/config"
	"plantstore/internal/control"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// checkAuditLog refuses as audit log a file of the server itself, or one that it
// reads: lines in it would be taken for secrets, or lost.
func checkAuditLog(cmd *cli.Command, c *config.Config) error {
	if c.AuditLog == "" || c.AuditLog == config.AuditStdout {
		return nil
	}
	files := append([]string{cmd.String(flagSeed), c.JWTSecretFile}, c.JWTPublicKeys...)
	if database := c.Storage.Path; database != "" {
		files = append(files, database, bbolt.MarkPath(database), control.SocketPath(database), secretBeside(database))
	}
	for _, file := range files {
		if file != "" && (filepath.Clean(file) == filepath.Clean(c.AuditLog) || same(file, c.AuditLog)) {
			return misuse("AUDIT_LOG (--audit-log): %s is a file that the server needs for itself: name another one", file)
		}
	}
	return nil
}

// openAudited opens the store for a server, and has its creates noted as AUDIT_LOG
// says. It returns what opens the audit log again, too.
func openAudited(ctx context.Context, p *Process, c *config.Config, logger *slog.Logger) (
	store storage.Store, reopen func(context.Context) error, err error,
) {
	const elsewhere, how = "name another place with --storage-url", " with --storage-url"
	store, err = engines(logger).Open(ctx, c.StorageURL)
	if err != nil {
		return nil, nil, whoHasIt(ctx, c.Storage.Path, adviseOn(err, elsewhere, how), ", or name another database with --storage-url or STORAGE_URL")
	}
	if c.AuditLog == "" {
		return store, func(context.Context) error { return nil }, nil
	}
	open := audit.File(c.AuditLog)
	if c.AuditLog == config.AuditStdout {
		open = audit.Stream(p.Stdout)
	}
	log, err := audit.Open(open, logger)
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("AUDIT_LOG (--audit-log): %w", adviseMissing(err, "make its folder first")), store.Close())
	}
	return audit.NewStore(store, log), log.Reopen, nil
}
