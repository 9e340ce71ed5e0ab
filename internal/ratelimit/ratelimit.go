// Package ratelimit limits how many requests each client may send, with a token bucket for each
// client. A request takes a token, and a [Rate] adds new ones. The memory for all buckets is
// bounded.
package ratelimit

import (
	"context"
	"fmt"
	"hash/maphash"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

const (
	// maxRequests bounds the number in a Rate.
	maxRequests = 1_000_000
	// maxBuckets bounds the buckets of a Limiter. A client loses its bucket, and so gets a full
	// one, only after requests of maxBuckets/2 other clients since its last.
	maxBuckets = 1 << 16
)

// A Rate is a number of requests in a unit of time, such as 100/s. The zero value means no
// limit.
type Rate struct {
	Requests int
	Per      time.Duration
}

func units() map[string]time.Duration {
	return map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}
}

// Parse returns the Rate in a text of the form N/s, N/m or N/h, with N from 1 to 1000000.
func Parse(text string) (Rate, error) {
	number, name, _ := strings.Cut(text, "/")
	unit := units()[name]
	n, err := strconv.ParseUint(number, 10, 32)
	if err != nil || n < 1 || n > maxRequests || unit == 0 {
		return Rate{}, fmt.Errorf("must be requests in a second, minute or hour, such as 100/s, 600/m or 1000/h, at most %d", maxRequests)
	}
	return Rate{Requests: int(n), Per: unit}, nil
}

// String returns the text of r that [Parse] accepts, empty for the zero value.
func (r Rate) String() string {
	for name, unit := range units() {
		if unit == r.Per {
			return fmt.Sprintf("%d/%s", r.Requests, name)
		}
	}
	return ""
}

// PerSecond returns the requests in a second.
func (r Rate) PerSecond() float64 { return float64(r.Requests) / r.Per.Seconds() }

// A Limiter limits the requests of each client. It is safe for concurrent use.
type Limiter struct {
	limit Rate
	seed  maphash.Seed

	mu             sync.Mutex // guards the following
	younger, older map[uint64]*rate.Limiter
}

// New returns a Limiter. After a pause, a client may send as many requests at once as limit has.
func New(limit Rate) *Limiter {
	return &Limiter{limit: limit, seed: maphash.MakeSeed(), younger: make(map[uint64]*rate.Limiter)}
}

// Take takes a token from the bucket of a client. It returns 0, or, if the bucket is empty, the
// time until there is a token.
func (l *Limiter) Take(_ context.Context, client string) time.Duration {
	bucket, now := l.bucket(client), time.Now()
	if bucket.AllowN(now, 1) {
		return 0
	}
	missing := 1 - bucket.TokensAt(now)
	return max(1, time.Duration(missing/l.limit.PerSecond()*float64(time.Second)))
}

// bucket returns the bucket of a client. When the younger of two generations is full, it
// replaces the older. The key is a hash, so that a bucket does not keep a subject of many
// kilobytes, with a secret seed, so that clients cannot choose whose bucket they use.
func (l *Limiter) bucket(client string) *rate.Limiter {
	key := maphash.String(l.seed, client)
	l.mu.Lock()
	defer l.mu.Unlock()
	if bucket := l.younger[key]; bucket != nil {
		return bucket
	}
	bucket := l.older[key]
	if bucket == nil {
		bucket = rate.NewLimiter(rate.Limit(l.limit.PerSecond()), l.limit.Requests)
	}
	if len(l.younger) >= maxBuckets/2 {
		l.younger, l.older = make(map[uint64]*rate.Limiter), l.younger
	}
	l.younger[key] = bucket
	return bucket
}

// Rate returns the limit, such as 100/s.
func (l *Limiter) Rate() string { return l.limit.String() }
