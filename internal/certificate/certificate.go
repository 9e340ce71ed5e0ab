// Package certificate provides the server's TLS certificates. It loads them from files and
// reloads changed files, or gets them from an authority by ACME.
package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"plantstore/internal/files"
)

const (
	minVersion   = tls.VersionTLS12 // older ones are deprecated (RFC 8996)
	interval     = time.Minute      // between checks of files for changes
	acmeInterval = time.Hour        // between checks of certificates by ACME
)

// Files is a certificate and its key in two files, which may be replaced at any time.
type Files struct {
	cert, key string
	logger    *slog.Logger
	current   atomic.Pointer[tls.Certificate]
}

// Load reads a certificate chain from the file cert and its private key from the file key,
// both in PEM. The key must pass the checks of [files.ReadSecret].
func Load(cert, key string, logger *slog.Logger) (*Files, error) {
	f := &Files{cert: cert, key: key, logger: logger}
	f.current.Store(new(tls.Certificate))
	return f, f.Reload()
}

// TLS returns the TLS configuration of a server.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{MinVersion: minVersion, GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return f.current.Load(), nil
	}}
}

// Expires returns when the certificate in use expires.
func (f *Files) Expires() time.Time { return f.current.Load().Leaf.NotAfter }

// Watch reloads the files every minute until ctx is done, and logs failures.
func (f *Files) Watch(ctx context.Context) {
	every(ctx, interval, func() {
		if err := f.Reload(); err != nil {
			f.logger.Error("certificate reload failed, keeping the previous certificate", "cause", err.Error())
		}
	})
}

// Reload reads the files, and uses and logs the certificate if it is a new one. If that fails,
// the previous certificate stays in use.
func (f *Files) Reload() error {
	pair, err := f.read()
	if err != nil || slices.EqualFunc(pair.Certificate, f.current.Load().Certificate, bytes.Equal) {
		return err
	}
	f.current.Store(&pair)
	f.logger.Info("certificate loaded", "file", f.cert, "serial", pair.Leaf.SerialNumber.Text(16), "expires", pair.Leaf.NotAfter)
	return nil
}

func (f *Files) read() (pair tls.Certificate, err error) {
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return pair, fmt.Errorf("TLS_CERT_FILE: %w", files.WithoutSecret(f.cert, err))
	}
	key, err := files.ReadSecret(f.key)
	if err != nil {
		return pair, fmt.Errorf("TLS_KEY_FILE: %w", err)
	}
	if pair, err = tls.X509KeyPair(cert, key); err != nil {
		return pair, fmt.Errorf("TLS_CERT_FILE %s and TLS_KEY_FILE %s: %w", f.cert, f.key, err)
	}
	return pair, nil
}

// An ACME obtains and renews certificates by ACME (RFC 8555) with tls-alpn-01 (RFC 8737).
type ACME struct {
	domains []string
	logger  *slog.Logger
	manager autocert.Manager
	expires atomic.Pointer[time.Time]
}

// NewACME returns an ACME for domains. It keeps keys and certificates in the directory cache.
// The URL directory selects the authority, whose terms it accepts; empty: Let's Encrypt.
func NewACME(domains []string, cache, directory string, logger *slog.Logger) *ACME {
	a := &ACME{domains: domains, logger: logger, manager: autocert.Manager{
		Prompt: autocert.AcceptTOS, Cache: autocert.DirCache(cache), HostPolicy: autocert.HostWhitelist(domains...),
		Client: &acme.Client{DirectoryURL: directory, HTTPClient: &http.Client{Timeout: 10 * time.Second}},
	}}
	a.expires.Store(new(time.Time))
	return a
}

// TLS returns the TLS configuration of a server. Its clients must send a server name (SNI).
func (a *ACME) TLS() *tls.Config {
	return &tls.Config{MinVersion: minVersion, GetCertificate: a.manager.GetCertificate, NextProtos: []string{acme.ALPNProto}}
}

// Expires returns the earliest expiry of the certificates at the last check, zero if there was none.
func (a *ACME) Expires() time.Time { return *a.expires.Load() }

// Watch obtains the certificates before a client needs them, and checks them every hour until ctx
// is done. It logs failures. The server must accept connections meanwhile, for the challenges.
func (a *ACME) Watch(ctx context.Context) { every(ctx, acmeInterval, a.check) }

// check gets the certificate of each domain, as a client that supports ECDSA does.
func (a *ACME) check() {
	var first time.Time
	for _, domain := range a.domains {
		hello := &tls.ClientHelloInfo{ServerName: domain, CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}}
		certificate, err := a.manager.GetCertificate(hello)
		if err != nil {
			a.logger.Error("no ACME certificate", "domain", domain, "cause", err.Error(),
				"hint", "this server must reach the authority, and the authority this server, at port 443 of the domain")
		} else if expires := certificate.Leaf.NotAfter; first.IsZero() || expires.Before(first) {
			first = expires
		}
	}
	a.expires.Store(&first)
}

// every calls f at once, and at each interval until ctx is done.
func every(ctx context.Context, interval time.Duration, f func()) {
	tick := time.Tick(interval)
	for ctx.Err() == nil {
		f()
		select {
		case <-ctx.Done():
		case <-tick:
		}
	}
}
