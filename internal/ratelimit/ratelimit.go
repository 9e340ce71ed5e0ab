// Package ratelimit limits how many requests each client may send. Each client has a token
// bucket: a request takes one token, and tokens are added at a [Rate], up to the burst. The
// memory for all buckets is bounded.
package ratelimit

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"plantstore/internal/recent"
)

const (
	// maxBuckets bounds the buckets of a Limiter. A client loses its bucket, and so gets a full
	// one, only after maxBuckets/2 other clients have sent requests since its last: whoever has
	// that many addresses has as many limits anyway.
	maxBuckets = 1 << 16
	// networkBits is the length of the prefix of an IPv6 network that counts as one client:
	// usually a client can use all its addresses. A client with a prefix of 56 bits has 256
	// limits. Customers of one host would share a shorter prefix.
	networkBits = 64
)

// A Limiter limits the requests of each client. It is safe for concurrent use.
type Limiter struct {
	limit   Rate
	burst   int
	address bool // clients are identified by their addresses
	seed    maphash.Seed
	refused atomic.Uint64
	buckets *recent.Map[uint64, *rate.Limiter]
}

// BySubject returns a Limiter of clients that are identified by the subjects of their tokens. A
// client may send burst requests at once.
func BySubject(limit Rate, burst int) *Limiter {
	return &Limiter{limit: limit, burst: burst, seed: maphash.MakeSeed(), buckets: recent.New[uint64, *rate.Limiter](maxBuckets)}
}

// ByAddress returns a Limiter of clients that are identified by their addresses, in the form of
// [net/http.Request.RemoteAddr]. The addresses of an IPv6 network of 64 bits are one client. A
// client without an address, at the other end of a Unix socket, is not limited.
func ByAddress(limit Rate, burst int) *Limiter {
	l := BySubject(limit, burst)
	l.address = true
	return l
}

// Take takes a token from the bucket of a client. It returns 0, or, if the bucket is empty, the
// time until there is a token.
func (l *Limiter) Take(client string) time.Duration {
	key, limited := l.key(client)
	if !limited {
		return 0
	}
	full := func() *rate.Limiter { return rate.NewLimiter(rate.Limit(l.limit.PerSecond()), l.burst) }
	bucket, now := l.buckets.GetOrPut(key, full), time.Now()
	if bucket.AllowN(now, 1) {
		return 0
	}
	l.refused.Add(1)
	missing := 1 - bucket.TokensAt(now)
	return max(1, time.Duration(missing/l.limit.PerSecond()*float64(time.Second)))
}

// key returns the key of a client's bucket: a hash, so that a bucket does not keep a subject
// of many kilobytes, with a secret seed, so that clients cannot choose whose bucket they use.
func (l *Limiter) key(client string) (key uint64, limited bool) {
	if !l.address {
		return maphash.String(l.seed, client), true
	}
	remote, err := netip.ParseAddrPort(client)
	if err != nil {
		return 0, false
	}
	address := remote.Addr().Unmap().WithZone("")
	if address.Is6() {
		network, _ := address.Prefix(networkBits) // never fails for IPv6 addresses
		address = network.Addr()
	}
	return maphash.Comparable(l.seed, address), true
}

// Rate returns the limit, such as 100/s.
func (l *Limiter) Rate() string { return l.limit.String() }

// Refused returns the number of requests that exceeded the limit. A nil Limiter has refused
// none.
func (l *Limiter) Refused() uint64 {
	if l == nil {
		return 0
	}
	return l.refused.Load()
}
