package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"plantstore/internal/audit"
	"plantstore/internal/config"
	"plantstore/storage"
)

// openAudited opens the store for a server, and has its creates noted as AUDIT_LOG
// says. It returns what opens the audit log again, too.
func openAudited(ctx context.Context, p *Process, c *config.Config, logger *slog.Logger) (
	store storage.Store, reopen func(context.Context) error, err error,
) {
	store, err = engines(logger).Open(ctx, c.StorageURL)
	if err != nil {
		return nil, nil, advised(err)
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
		return nil, nil, errors.Join(fmt.Errorf("AUDIT_LOG (--audit-log): %w", err), store.Close())
	}
	return audit.NewStore(store, log), log.Reopen, nil
}
