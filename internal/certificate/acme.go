package certificate

import (
	"context"
	"crypto/tls"
	"log/slog"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// retryInterval is how long it takes until a certificate that was not to be had is
// asked for again.
const retryInterval = 2 * time.Minute

// An ACME gets certificates from an authority by ACME (RFC 8555), which convinces
// itself by a challenge in the handshake of TLS (RFC 8737), and renews them in
// time. Whoever makes one accepts the authority's terms of service.
type ACME struct {
	domains []string
	manager autocert.Manager
}

// NewACME returns an ACME for these domains. It keeps keys and certificates in the
// folder cache. The authority is that with its directory at a URL; empty means
// Let's Encrypt. It writes to the address email, if there is one, about problems.
func NewACME(domains []string, cache, directory, email string) *ACME {
	return &ACME{domains: domains, manager: autocert.Manager{
		Prompt:     autocert.AcceptTOS,
		Cache:      autocert.DirCache(cache),
		HostPolicy: autocert.HostWhitelist(domains...),
		Client:     &acme.Client{DirectoryURL: directory},
		Email:      email,
	}}
}

// TLS returns what a server speaks TLS with. A client that names no host gets the
// certificate of the first domain.
func (a *ACME) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     minVersion,
		GetCertificate: a.certificate,
		NextProtos:     []string{acme.ALPNProto},
	}
}

// certificate returns the certificate that a client asks for. It does not wait for
// longer than the client: getting one may take minutes.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if hello.ServerName == "" {
		named := *hello
		named.ServerName = a.domains[0]
		hello = &named
	}
	type outcome struct {
		certificate *tls.Certificate
		err         error
	}
	got := make(chan outcome, 1)
	go func() {
		certificate, err := a.manager.GetCertificate(hello)
		got <- outcome{certificate, err}
	}()
	select {
	case o := <-got:
		return o.certificate, o.err
	case <-hello.Context().Done():
		return nil, hello.Context().Err()
	}
}

// Reload does nothing: certificates are renewed in time.
func (a *ACME) Reload(context.Context) error { return nil }

// Watch gets the certificates that are not there yet, before a client asks for
// them, and logs what comes of it. It tries again until ctx is done. The server
// must accept connections meanwhile.
func (a *ACME) Watch(ctx context.Context, logger *slog.Logger) {
	ticker := time.NewTicker(retryInterval)
	defer ticker.Stop()
	for missing := a.domains; ; {
		if missing = a.get(ctx, missing, logger); len(missing) == 0 {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// get gets certificates, and returns the domains for which there are none.
func (a *ACME) get(ctx context.Context, domains []string, logger *slog.Logger) (missing []string) {
	for _, domain := range domains {
		certificate, err := a.manager.GetCertificate(&tls.ClientHelloInfo{
			ServerName: domain,
			// What every client of today can do, so that the key is of the kind for
			// which they ask.
			CipherSuites:     []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256},
			SignatureSchemes: []tls.SignatureScheme{tls.ECDSAWithP256AndSHA256},
			SupportedCurves:  []tls.CurveID{tls.CurveP256},
		})
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			logger.Error("there is no certificate by ACME yet: the authority must reach this server at port 443 of the domain",
				"domain", domain, "cause", err.Error())
			missing = append(missing, domain)
		default:
			logger.Info("the certificate by ACME is there", "domain", domain, "expires", certificate.Leaf.NotAfter)
		}
	}
	return missing
}
