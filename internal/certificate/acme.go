package certificate

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"plantstore/internal/atomicfile"
)

// An ACME obtains and renews certificates by ACME (RFC 8555), with the challenge
// tls-alpn-01 (RFC 8737). Using it accepts the authority's terms of service.
type ACME struct {
	first   string // the domain for clients without SNI
	logger  *slog.Logger
	manager autocert.Manager
	orders  map[certificateKind]*order // never changed
}

// NewACME returns an ACME for domains, which must be in lower case. It keeps keys and
// certificates in the directory cache, which must exist. The URL directory selects the authority;
// empty: Let's Encrypt. The authority may send mail about problems to email, unless it is empty.
func NewACME(domains []string, cache, directory, email string, logger *slog.Logger) *ACME {
	a := &ACME{
		first: domains[0], logger: logger, orders: make(map[certificateKind]*order),
		manager: autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      dirCache{autocert.DirCache(cache)},
			HostPolicy: autocert.HostWhitelist(domains...),
			Client:     &acme.Client{DirectoryURL: directory},
			Email:      email,
		},
	}
	for _, domain := range domains {
		for _, rsa := range []bool{false, true} {
			kind := certificateKind{domain, rsa}
			a.orders[kind] = newOrder(kind)
		}
	}
	return a
}

// TLS returns the TLS configuration of a server. A client without SNI gets the
// certificate of the first domain.
func (a *ACME) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     minVersion,
		GetCertificate: a.certificate,
		NextProtos:     []string{acme.ALPNProto},
	}
}

// certificate returns the certificate for a handshake with a client, or with the
// authority for a challenge.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.manager.GetCertificate(hello)
	}
	domain := cmp.Or(strings.ToLower(hello.ServerName), a.first)
	order, known := a.orders[certificateKind{domain, !supportsECDSA(hello)}]
	if !known {
		return nil, fmt.Errorf("there is no certificate for %q, which is not in ACME_DOMAINS", domain)
	}
	certificate, err := order.await(hello.Context())
	if err != nil {
		return nil, fmt.Errorf("there is no certificate for %s by ACME yet: %w", domain, err)
	}
	return certificate, nil
}

// supportsECDSA reports whether a client supports certificates with a P-256 key.
func supportsECDSA(hello *tls.ClientHelloInfo) bool {
	anyName := *hello
	anyName.ServerName = ""
	return anyName.SupportsCertificate(&tls.Certificate{
		PrivateKey: &ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: elliptic.P256()}},
	}) == nil
}

// cachePerm is the mode of private keys: accessible only to the owner.
const cachePerm fs.FileMode = 0o600

// A dirCache is an [autocert.DirCache] whose files survive a power failure complete:
// autocert fails if its account key is incomplete.
type dirCache struct{ autocert.DirCache }

// Put implements [autocert.Cache].
func (c dirCache) Put(_ context.Context, key string, data []byte) error {
	path := filepath.Join(string(c.DirCache), filepath.Clean("/"+key)) // the same path as in autocert's DirCache
	return atomicfile.Replace(path, cachePerm, func(file *atomicfile.File) error {
		_, err := file.Write(data)
		return err
	})
}
