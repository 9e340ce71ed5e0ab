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
	"sync"
	"time"

	"golang.org/x/crypto/acme"
	"golang.org/x/crypto/acme/autocert"

	"plantstore/internal/atomicfile"
	"plantstore/internal/wait"
)

// The time between attempts to get a certificate. It doubles from minRetry with each
// failure. Let's Encrypt allows five failed validations an hour.
const (
	minRetry = 2 * time.Minute
	maxRetry = time.Hour
)

// An ACME obtains and renews certificates by ACME (RFC 8555), with the challenge
// tls-alpn-01 (RFC 8737). Using it accepts the authority's terms of service.
type ACME struct {
	domains []string
	logger  *slog.Logger
	manager autocert.Manager

	mu       sync.Mutex
	attempts map[request]*attempt // the latest
	held     map[request]*held    // certificates in use
}

// A request identifies a certificate by domain and key type.
type request struct {
	domain string
	rsa    bool // false: ECDSA
}

// An attempt to get a certificate is shared by all handshakes that need it. It may take
// minutes and is not canceled.
type attempt struct {
	done chan struct{} // closed at the end, when the fields below are set
	wait time.Duration // time until the next attempt after a failure

	certificate *tls.Certificate
	err         error
	again       time.Time // earliest next attempt
}

// NewACME returns an ACME for domains, which must be in lower case. It keeps keys and
// certificates in the directory cache, which must exist. The URL directory selects the authority;
// empty: Let's Encrypt. The authority may send mail about problems to email, unless it is empty.
func NewACME(domains []string, cache, directory, email string, logger *slog.Logger) *ACME {
	return &ACME{
		domains: domains, logger: logger, attempts: make(map[request]*attempt), held: make(map[request]*held),
		manager: autocert.Manager{
			Prompt:     autocert.AcceptTOS,
			Cache:      dirCache{autocert.DirCache(cache)},
			HostPolicy: autocert.HostWhitelist(domains...),
			Client:     &acme.Client{DirectoryURL: directory},
			Email:      email,
		},
	}
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
	domain := cmp.Or(strings.ToLower(hello.ServerName), a.domains[0])
	if !slices.Contains(a.domains, domain) {
		return nil, fmt.Errorf("there is no certificate for %q, which is not in ACME_DOMAINS", domain)
	}
	attempt := a.attempt(request{domain: domain, rsa: !supportsECDSA(hello)})
	if err := attempt.await(hello.Context()); err != nil {
		return nil, fmt.Errorf("there is no certificate for %s by ACME yet: %w", domain, err)
	}
	return attempt.certificate, nil
}

// supportsECDSA reports whether a client supports certificates with a P-256 key.
func supportsECDSA(hello *tls.ClientHelloInfo) bool {
	anyName := *hello
	anyName.ServerName = ""
	return anyName.SupportsCertificate(&tls.Certificate{
		PrivateKey: &ecdsa.PrivateKey{PublicKey: ecdsa.PublicKey{Curve: elliptic.P256()}},
	}) == nil
}

// attempt returns the attempt at r that is in progress or has failed recently, or begins
// a new one.
func (a *ACME) attempt(r request) *attempt {
	a.mu.Lock()
	defer a.mu.Unlock()
	last := a.attempts[r]
	if last != nil && last.isCurrent() {
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

func (r request) hello() *tls.ClientHelloInfo {
	hello := &tls.ClientHelloInfo{ServerName: r.domain}
	if !r.rsa {
		hello.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	}
	return hello
}

// isCurrent reports whether the attempt is in progress, or failed and not due for another.
func (t *attempt) isCurrent() bool {
	select {
	case <-t.done:
		return t.err != nil && time.Now().Before(t.again)
	default:
		return true
	}
}

// await waits until the attempt ends or ctx is done. It returns nil if there is a
// certificate.
func (t *attempt) await(ctx context.Context) error {
	select {
	case <-t.done:
		return t.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Watch gets missing certificates before a client needs them, and logs failures, renewals
// and overdue renewals until ctx is done. It retries with increasing delay. The server
// must accept connections meanwhile, for the challenges.
func (a *ACME) Watch(ctx context.Context) {
	var all sync.WaitGroup
	for _, domain := range a.domains {
		all.Go(func() { a.get(ctx, domain) })
	}
	all.Go(func() { a.watchRenewals(ctx) })
	all.Wait()
}

// get gets the ECDSA certificate of a domain, which all current clients support, until ctx
// is done.
func (a *ACME) get(ctx context.Context, domain string) {
	for {
		attempt := a.attempt(request{domain: domain})
		err := attempt.await(ctx)
		if err == nil || ctx.Err() != nil {
			return
		}
		a.logger.Error("no ACME certificate yet", "domain", domain, "cause", err.Error(), "again", attempt.again,
			"advice", reachability)
		if !wait.Sleep(ctx, time.Until(attempt.again)) {
			return
		}
	}
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
