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

// certificates are where the server gets its certificates from.
type certificates interface {
	// TLS returns what it speaks TLS with.
	TLS() *tls.Config
	// Reload looks at once whether there are new ones. If it fails, those before
	// stay in use.
	Reload(ctx context.Context) error
	// Expires returns when the first of those in use expires, the zero time if there
	// is none.
	Expires() time.Time
	// Watch keeps them current until ctx is done.
	Watch(ctx context.Context)
}

// plain stands for the certificates of a server that speaks plain HTTP.
type plain struct{}

func (plain) TLS() *tls.Config { return nil }

func (plain) Reload(context.Context) error { return nil }

func (plain) Expires() time.Time { return time.Time{} }

func (plain) Watch(context.Context) {}

// newCertificates returns the certificates that c names.
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
