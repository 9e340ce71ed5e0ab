package certificate

import (
	"context"
	"crypto/x509"
	"log/slog"
	"maps"
	"slices"
	"time"
)

const (
	// autocert begins to renew a certificate when a third of its lifetime is left, and
	// never earlier than maxAhead. It may take renewalTime, keeps to itself why it has
	// failed, and tries again after half an hour to an hour.
	maxAhead    = 30 * 24 * time.Hour
	renewalTime = 10 * time.Minute

	// reminder is how long it takes until it is said again that a certificate has not
	// been renewed.
	reminder = 24 * time.Hour
)

// advice is what to look at when a certificate is not renewed.
const advice = "this server must reach the authority, and the authority this server, at port 443 of the domain; ACME_CACHE must be writable; after a long sleep of the machine, or a jump of its clock, start the server anew"

// A holding is a certificate by ACME that is in use.
type holding struct {
	leaf  *x509.Certificate
	since time.Time // when it was first seen
	told  time.Time // when it was last said that it is late
}

// late reports whether the certificate should have been renewed by now: a quarter of
// the time is over that there was for it. One that has come from the cache just now
// may be in the course of it.
func (h *holding) late(now time.Time) bool {
	ahead := min(h.leaf.NotAfter.Sub(h.leaf.NotBefore)/3, maxAhead)
	return h.leaf.NotAfter.Sub(now) < ahead*3/4 && now.Sub(h.since) > min(ahead/4, renewalTime)
}

// expired reports whether clients refuse the certificate.
func (h *holding) expired(now time.Time) bool { return now.After(h.leaf.NotAfter) }

// news reports whether it is to be said that the certificate is late: once, once
// more when it has expired, and each day.
func (h *holding) news(now time.Time) bool {
	return h.late(now) && (now.Sub(h.told) >= reminder || h.expired(now) && !h.expired(h.told))
}

// keep notes the certificate that is in use for r, and logs if it is a new one.
func (a *ACME) keep(r request, leaf *x509.Certificate) {
	a.mu.Lock()
	before := a.holdings[r]
	same := before != nil && before.leaf.Equal(leaf)
	if !same {
		a.holdings[r] = &holding{leaf: leaf, since: time.Now()}
	}
	a.mu.Unlock() // handshakes wait for it, and may not for the log
	switch {
	case before == nil:
		a.logger.Info("the certificate by ACME is there", about(r, leaf)...)
	case !same:
		a.logger.Info("the certificate by ACME was renewed", about(r, leaf)...)
	}
}

// about returns what there is to say of a certificate.
func about(r request, leaf *x509.Certificate) []any {
	return []any{
		slog.String("domain", r.domain), slog.String("key", leaf.PublicKeyAlgorithm.String()),
		slog.String("serial", leaf.SerialNumber.Text(16)), slog.Time("expires", leaf.NotAfter),
	}
}

// watchRenewals looks whether the certificates that are there are renewed, until ctx
// is done.
func (a *ACME) watchRenewals(ctx context.Context) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, r := range a.held() {
			_ = a.attempt(r).await(ctx) // which is at once, and keeps the certificate
		}
		a.remind(time.Now())
	}
}

// held returns what there are certificates for.
func (a *ACME) held() []request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.holdings))
}

// remind logs which certificates are late, if that is news.
func (a *ACME) remind(now time.Time) {
	for r, h := range a.news(now) {
		if h.expired(now) {
			a.logger.Error("the certificate by ACME has expired, and clients refuse it: "+advice, about(r, h.leaf)...)
		} else {
			a.logger.Error("the certificate by ACME is not renewed: "+advice, about(r, h.leaf)...)
		}
	}
}

// news returns the certificates of which it is to be said that they are late, which
// counts as done.
func (a *ACME) news(now time.Time) map[request]holding {
	a.mu.Lock()
	defer a.mu.Unlock()
	news := make(map[request]holding)
	for r, h := range a.holdings {
		if h.news(now) {
			h.told = now
			news[r] = *h
		}
	}
	return news
}

// Expires returns when the first of the certificates expires that are there, the zero
// time if there is none.
func (a *ACME) Expires() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	var first time.Time
	for _, h := range a.holdings {
		if first.IsZero() || h.leaf.NotAfter.Before(first) {
			first = h.leaf.NotAfter
		}
	}
	return first
}
