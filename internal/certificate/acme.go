package certificate

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/tls"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"
)

// How long it takes until a certificate that was not to be had is asked for again: it
// doubles from minRetry with each failure. Let's Encrypt allows five failed validations
// an hour.
const (
	minRetry = 2 * time.Minute
	maxRetry = time.Hour
)

// An ACME gets certificates from an authority by ACME (RFC 8555), which convinces
// itself by a challenge in the handshake of TLS (RFC 8737), and renews them in
// time. Whoever makes one accepts the authority's terms of service.
type ACME struct {
	domains []string
	logger  *slog.Logger
	manager autocert.Manager

	mu       sync.Mutex
	attempts map[request]*attempt // the last ones
	holdings map[request]*holding // the certificates that have come of them
}

// A request is for the certificate of a domain with a kind of key.
type request struct {
	domain string
	rsa    bool // else ECDSA
}

// An attempt to get a certificate is shared by all who want it: it may take minutes,
// and does not end before.
type attempt struct {
	done chan struct{} // closed at the end; what follows is set by then
	wait time.Duration // how long err stands

	certificate *tls.Certificate
	err         error
	again       time.Time // until then err stands
}

// NewACME returns an ACME for these domains, in lower case. It keeps keys and
// certificates in the folder cache. The authority is that with its directory at a URL;
// empty means Let's Encrypt. It writes to the address email, if there is one, about
// problems. What comes of it is told to logger.
func NewACME(domains []string, cache, directory, email string, logger *slog.Logger) *ACME {
	return &ACME{
		domains: domains, logger: logger, attempts: make(map[request]*attempt), holdings: make(map[request]*holding),
		manager: autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      autocert.DirCache(cache),
			HostPolicy: autocert.HostWhitelist(domains...),
			Client:     &acme.Client{DirectoryURL: directory},
			Email:      email,
		},
	}
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

// certificate returns the certificate that a client asks for, or that of a challenge,
// which is at hand.
func (a *ACME) certificate(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
	if slices.Equal(hello.SupportedProtos, []string{acme.ALPNProto}) {
		return a.manager.GetCertificate(hello)
	}
	domain := cmp.Or(strings.ToLower(hello.ServerName), a.domains[0])
	if !slices.Contains(a.domains, domain) {
		return nil, fmt.Errorf("there is no certificate for %q, which is none of the domains of ACME", domain)
	}
	attempt := a.attempt(request{domain: domain, rsa: !takesECDSA(hello)})
	if err := attempt.await(hello.Context()); err != nil {
		return nil, fmt.Errorf("there is no certificate for %s by ACME yet: %w", domain, err)
	}
	return attempt.certificate, nil
}

// takesECDSA reports whether a client takes a certificate with a key on the curve
// P-256.
func takesECDSA(hello *tls.ClientHelloInfo) bool {
	anyName := *hello
	anyName.ServerName = ""
	return anyName.SupportsCertificate(&tls.Certificate{
		PrivateKey: &ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: elliptic.P256()}},
	}) == nil
}

// attempt returns the attempt at r that is under way, or has failed not long ago, and
// else begins one.
func (a *ACME) attempt(r request) *attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.attempts[r]
	if last != nil && last.stands() {
		return last
	}
	next := &attempt{done: make(chan struct{}), wait: minRetry}
	if last != nil && last.err != nil {
		next.wait = min(2*last.wait, maxRetry)
	}
	a.attempts[r] = next
	go func() {
		defer close(next.done)
		next.certificate, next.err = a.manager.GetCertificate(r.hello())
		next.again = time.Now().Add(next.wait)
		if next.err == nil {
			a.keep(r, next.certificate.Leaf)
		}
	}()
	return next
}

// hello returns what a client says that wants what r is for.
func (r request) hello() *tls.ClientHelloInfo {
	hello := &tls.ClientHelloInfo{ServerName: r.domain}
	if !r.rsa {
		hello.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	}
	return hello
}

// stands reports whether there is no reason yet for another attempt.
func (t *attempt) stands() bool {
	select {
	case <-t.done:
		return t.err != nil && time.Now().Before(t.again)
	default:
		return true
	}
}

// await waits until the attempt has ended or ctx is done. It returns nil if there is a
// certificate.
func (t *attempt) await(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Reload does nothing: certificates are renewed in time.
func (a *ACME) Reload(context.Context) error { return nil }

// Watch gets the certificates that are not there yet, before a client asks for
// them, and logs what comes of it. It tries again, less and less often, until ctx is
// done. The server must accept connections meanwhile. Of those that are there it logs
// when they are renewed, and when they should have been.
func (a *ACME) Watch(ctx context.Context) {
	var all sync.WaitGroup
	for _, domain := range a.domains {
		all.Go(func() { a.get(ctx, domain) })
	}
	all.Go(func() { a.watchRenewals(ctx) })
	all.Wait()
}

// get gets the certificate for a domain, of the kind that every client of today takes,
// unless ctx is done before.
func (a *ACME) get(ctx context.Context, domain string) {
	for {
		attempt := a.attempt(request{domain: domain})
		err := attempt.await(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.logger.Error("there is no certificate by ACME yet: this server must reach the authority, and the authority this server, at port 443 of the domain",
			"domain", domain, "cause", err.Error(), "again", attempt.again)
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Until(attempt.again)):
		}
	}
}
