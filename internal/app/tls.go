package app

import (
	"cmp"
	"fmt"
	"time"

	"plantstore/internal/atomicfile"
	"plantstore/internal/certificate"
	"plantstore/internal/secretfile"
)

// openCertificates sets TLS up, if it is configured.
func (a *App) openCertificates() error {
	c := a.config
	switch {
	case !c.TLS():
		a.expires = func() time.Time { return time.Time{} }
		return nil
	case c.TLSCertFile != "":
		files, err := certificate.Load(c.TLSCertFile, c.TLSKeyFile, logExposed(a.logger), a.logger)
		if err != nil {
			return fmt.Errorf("there is no certificate for TLS: %w", err)
		}
		a.tls, a.expires = files.TLS(), files.Expires
		a.reloads, a.watches = append(a.reloads, files.Reload), append(a.watches, files.Watch)
		return nil
	}
	cache := cmp.Or(c.ACMECache, acmePath(c.Storage.Path))
	if err := atomicfile.MkdirAll(cache, 0o700); err != nil {
		return fmt.Errorf("the directory of the certificates, ACME_CACHE: %w", err)
	}
	if err := secretfile.CheckDirectory(cache); err != nil {
		return fmt.Errorf("ACME_CACHE: %w", err)
	}
	acme := certificate.NewACME(c.ACMEDomains, cache, c.ACMEDirectory, c.ACMEEmail, a.logger)
	a.tls, a.expires = acme.TLS(), acme.Expires
	a.watches = append(a.watches, acme.Watch)
	return nil
}
