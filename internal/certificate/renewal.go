package certificate

import (
	"crypto/x509"
	"log/slog"
	"time"
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

// overdue reports whether the certificate should have been renewed by now: a quarter of
// the time for its renewal is over. A certificate that was just loaded from the cache may
// still be in the process of renewal.
func (o *order) overdue(leaf *x509.Certificate, now time.Time) bool {
	renewBefore := min(leaf.NotAfter.Sub(leaf.NotBefore)/3, maxRenewBefore)
	return leaf.NotAfter.Sub(now) < renewBefore*3/4 && now.Sub(o.since) > min(renewBefore/4, renewalTime)
}

// needsReminder reports whether to log that the renewal is overdue: once, again when the
// certificate has expired, and each day.
func (o *order) needsReminder(leaf *x509.Certificate, now time.Time) bool {
	hasExpired := now.After(leaf.NotAfter) && !o.logged.After(leaf.NotAfter)
	return o.overdue(leaf, now) && (now.Sub(o.logged) >= reminder || hasExpired)
}

// attrs returns the certificate in use for a log message.
func (o *order) attrs() []any {
	leaf := o.leaf.Load()
	return []any{
		slog.String("domain", o.domain), slog.String("key", leaf.PublicKeyAlgorithm.String()),
		slog.String("serial", leaf.SerialNumber.Text(16)), slog.Time("expires", leaf.NotAfter),
	}
}

// remind logs an overdue renewal.
func (a *ACME) remind(o *order, now time.Time) {
	leaf := o.leaf.Load()
	if leaf == nil || !o.needsReminder(leaf, now) {
		return
	}
	o.logged = now
	logger := a.logger.With("hint", advice)
	if now.After(leaf.NotAfter) {
		logger.Error("ACME certificate expired, clients reject it", o.attrs()...)
	} else {
		logger.Error("ACME certificate not renewed", o.attrs()...)
	}
}

// Expires returns the earliest expiry of the certificates in use, or the zero time if
// there is none.
func (a *ACME) Expires() time.Time {
	var first time.Time
	for _, o := range a.orders {
		if leaf := o.leaf.Load(); leaf != nil && (first.IsZero() || leaf.NotAfter.Before(first)) {
			first = leaf.NotAfter
		}
	}
	return first
}
