package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"sync"
	"sync/atomic"
	"time"

	"plantstore/internal/wait"
)

// The time between attempts to get a certificate. It doubles from minRetry with each
// failure. Let's Encrypt allows five failed validations an hour.
const (
	minRetry = 2 * time.Minute
	maxRetry = time.Hour
)

// A certificateKind identifies a certificate by domain and key type.
type certificateKind struct {
	domain string
	rsa    bool // false: ECDSA
}

// hello returns a handshake that makes autocert choose the certificate.
func (k certificateKind) hello() *tls.ClientHelloInfo {
	hello := &tls.ClientHelloInfo{ServerName: k.domain}
	if !k.rsa {
		hello.CipherSuites = []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256}
	}
	return hello
}

// An order is a certificate that is obtained and renewed. Handshakes get the result of the
// last attempt, so that they cause no further ones.
type order struct {
	certificateKind

	needed, tried       chan struct{} // closed when it is needed first, and after the first attempt
	setNeeded, setTried func()        // close them
	last                atomic.Pointer[result]
	leaf                atomic.Pointer[x509.Certificate] // in use; nil: none yet

	// Only for the goroutine of fulfil.
	since  time.Time // first use of leaf
	logged time.Time // last log message about its overdue renewal
}

// A result is that of an attempt to get a certificate.
type result struct {
	certificate *tls.Certificate
	err         error
}

func newOrder(kind certificateKind) *order {
	o := &order{certificateKind: kind, needed: make(chan struct{}), tried: make(chan struct{})}
	o.setNeeded = sync.OnceFunc(func() { close(o.needed) })
	o.setTried = sync.OnceFunc(func() { close(o.tried) })
	return o
}

// await returns the result of the last attempt. It waits for the first one.
func (o *order) await(ctx context.Context) (*tls.Certificate, error) {
	o.setNeeded()
	select {
	case <-o.tried:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	last := o.last.Load()
	return last.certificate, last.err
}

// Watch gets certificates and renews them until ctx is done: those with an ECDSA key, which
// all current clients support, before a client needs them. It retries with increasing delay,
// and logs failures, renewals and overdue renewals. The server must accept connections
// meanwhile, for the challenges.
func (a *ACME) Watch(ctx context.Context) {
	for _, o := range a.orders {
		if !o.rsa {
			o.setNeeded()
		}
		go a.fulfil(ctx, o) // it ends later if an attempt is in progress, which may take minutes
	}
	<-ctx.Done()
}

// fulfil gets the certificate of an order once it is needed, and its renewals.
func (a *ACME) fulfil(ctx context.Context, o *order) {
	select {
	case <-o.needed:
	case <-ctx.Done():
	}
	retry, again := minRetry, time.Now()
	for ctx.Err() == nil {
		if !time.Now().Before(again) {
			err := a.attempt(o)
			if err == nil {
				retry = minRetry
			} else {
				again, retry = time.Now().Add(retry), min(2*retry, maxRetry)
			}
			if err != nil && o.leaf.Load() == nil && !o.rsa && ctx.Err() == nil {
				a.logger.Error("no ACME certificate yet", "domain", o.domain, "cause", err.Error(), "again", again,
					"hint", reachability)
			}
		}
		a.remind(o, time.Now())
		wait.Sleep(ctx, Interval)
	}
}

// attempt gets the certificate of an order from the cache or the authority, and logs a new one.
func (a *ACME) attempt(o *order) error {
	defer o.setTried()
	certificate, err := a.manager.GetCertificate(o.hello())
	o.last.Store(&result{certificate, err})
	if err != nil || certificate.Leaf.Equal(o.leaf.Load()) {
		return err
	}
	before := o.leaf.Swap(certificate.Leaf)
	o.since, o.logged = time.Now(), time.Time{}
	if before == nil {
		a.logger.Info("ACME certificate obtained", o.attrs()...)
	} else {
		a.logger.Info("ACME certificate renewed", o.attrs()...)
	}
	return nil
}
