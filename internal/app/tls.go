package app

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"time"

	"plantstore/internal/certificate"
	"plantstore/internal/config"
	"plantstore/internal/secretfile"
)

// certificates are a source of certificates.
type certificates interface {
	// TLS returns the configuration of TLS, nil for plain HTTP.
	TLS() *tls.Config
	// Reload checks for new ones at once. If it fails, the previous ones stay in use.
	Reload(ctx context.Context) error
	// Expires returns when the first certificate in use expires, the zero time if there
	// is none.
	Expires() time.Time
	// Watch keeps them current until ctx is done.
	Watch(ctx context.Context)
}

// plain is the source of a server that speaks plain HTTP.
type plain struct{}

func (plain) TLS() *tls.Config { return nil }

func (plain) Reload(context.Context) error { return nil }

func (plain) Expires() time.Time { return time.Time{} }

func (plain) Watch(context.Context) {}

// newCertificates returns the configured source.
func newCertificates(c *config.Config, logger *slog.Logger) (certificates, error) {
	switch {
	case !c.TLS():
		return plain{}, nil
	case c.TLSCertFile != "":
		files, err := certificate.Load(c.TLSCertFile, c.TLSKeyFile, logExposed(logger), logger)
		if err != nil {
			return nil, fmt.Errorf("there is no certificate for TLS: %w", err)
		}
		return files, nil
	}
	cache := c.ACMECache
	if cache == "" {
		cache = acmePath(c.Storage.Path)
	}
	if err := certificate.PrepareCache(cache); err != nil {
		return nil, fmt.Errorf("the directory of the certificates, ACME_CACHE: %w", err)
	}
	if err := secretfile.CheckDirectory(cache); err != nil {
		return nil, fmt.Errorf("ACME_CACHE: %w", err)
	}
	return certificate.NewACME(c.ACMEDomains, cache, c.ACMEDirectory, c.ACMEEmail, logger), nil
}
