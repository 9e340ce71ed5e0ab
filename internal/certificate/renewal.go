package certificate

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"time"

	"plantstore/internal/wait"
)

const (
	// autocert begins to renew a certificate when a third of its lifetime, but at most
	// maxRenewBefore, is left. It may take renewalTime, does not report why it
	// failed, and retries after half an hour to an hour.
	maxRenewBefore = 30 * 24 * time.Hour
	renewalTime    = 10 * time.Minute

	// reminder is the time between log messages about an overdue renewal.
	reminder = 24 * time.Hour
)

const (
	// reachability is the advice for a certificate that can't be obtained.
	reachability = "this server must reach the authority, and the authority this server, at port 443 of the domain"
	// advice is the advice for a certificate that is not renewed.
	advice = reachability + "; ACME_CACHE must be writable; after a long sleep of the machine, or a jump of its clock, restart the server"
)

// A held is an ACME certificate in use.
type held struct {
	leaf   *x509.Certificate
	since  time.Time // first use
	logged time.Time // last log message about an overdue renewal; only for remind
}

// overdue reports whether the certificate should have been renewed by now: a quarter of
// the time for its renewal is over. A certificate that was just loaded from the cache may
// still be in the process of renewal.
func (h *held) overdue(now time.Time) bool {
	renewBefore := min(h.leaf.NotAfter.Sub(h.leaf.NotBefore)/3, maxRenewBefore)
	return h.leaf.NotAfter.Sub(now) < renewBefore*3/4 && now.Sub(h.since) > min(renewBefore/4, renewalTime)
}

// needsReminder reports whether to log that the renewal is overdue: once, again when the
// certificate has expired, and each day.
func (h *held) needsReminder(now time.Time) bool {
	hasExpired := now.After(h.leaf.NotAfter) && !h.logged.After(h.leaf.NotAfter)
	return h.overdue(now) && (now.Sub(h.logged) >= reminder || hasExpired)
}

// keep records the certificate in use for r, and logs a new one.
func (a *ACME) keep(r request, leaf *x509.Certificate) {
	a.mu.Lock()
	before := a.held[r]
	same := before != nil && before.leaf.Equal(leaf)
	if !same {
		a.held[r] = &held{leaf: leaf, since: time.Now()}
	}
	a.mu.Unlock() // handshakes must not wait for the log
	switch {
	case before == nil:
		a.logger.Info("ACME certificate obtained", attrs(r, leaf)...)
	case !same:
		a.logger.Info("ACME certificate renewed", attrs(r, leaf)...)
	}
}

func attrs(r request, leaf *x509.Certificate) []any {
	return []any{
		slog.String("domain", r.domain), slog.String("key", leaf.PublicKeyAlgorithm.String()),
		slog.String("serial", leaf.SerialNumber.Text(16)), slog.Time("expires", leaf.NotAfter),
	}
}

// watchRenewals logs renewed certificates, and late renewals, until ctx is done.
func (a *ACME) watchRenewals(ctx context.Context) {
	wait.Every(ctx, Interval, func() {
		for r := range a.inUse() {
			_ = a.attempt(r).await(ctx) // immediate: the certificate is cached
		}
		a.remind(time.Now())
	})
}

func (a *ACME) inUse() map[request]*held {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.held)
}

// remind logs overdue renewals.
func (a *ACME) remind(now time.Time) {
	for r, h := range a.inUse() {
		if !h.needsReminder(now) {
			continue
		}
		h.logged = now
		logger := a.logger.With("advice", advice)
		if now.After(h.leaf.NotAfter) {
			logger.Error("ACME certificate expired, clients reject it", attrs(r, h.leaf)...)
		} else {
			logger.Error("ACME certificate not renewed", attrs(r, h.leaf)...)
		}
	}
}

// Expires returns the earliest expiry of the certificates in use, or the zero time if
// there is none.
func (a *ACME) Expires() time.Time {
	var first time.Time
	for _, h := range a.inUse() {
		if first.IsZero() || h.leaf.NotAfter.Before(first) {
			first = h.leaf.NotAfter
		}
	}
	return first
}
