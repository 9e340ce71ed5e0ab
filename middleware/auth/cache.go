package auth

import (
	"strings"
	"sync"
	"time"
)

const (
	// cacheBytes bounds the memory of the cache of verified tokens.
	cacheBytes = 16 << 20
	// entryBytes is about the memory of a token in the cache besides the token itself, with a
	// subject of the maximum length.
	entryBytes = 400
)

// A trusted holds the current keys and the tokens verified with them. New keys start with an
// empty cache, so that no token outlives the key that it was signed with.
type trusted struct {
	keys []boundKey

	mu       sync.RWMutex // guards the following
	verified map[string]verified
	bytes    int // of the memory of verified
}

// get returns what is known of a token, if it is in the cache.
func (t *trusted) get(token string) (known verified, cached bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	known, cached = t.verified[token]
	return known, cached
}

// put adds a token to the cache. A full one is emptied first.
func (t *trusted) put(token string, known verified) {
	t.mu.Lock()
	defer t.mu.Unlock()
	size := len(token) + entryBytes
	if t.bytes += size; t.bytes > cacheBytes {
		clear(t.verified)
		t.bytes = size
	}
	t.verified[strings.Clone(token)] = known // the token is part of a header field, which may be longer
}

// A verified token had a valid signature and valid claims when it was put into the cache.
type verified struct {
	subject     string
	scoped      bool      // it has the required scope
	from, until time.Time // with the leeway; until is zero without exp
}

// at returns an error if the token is not valid at a time.
func (t verified) at(now time.Time) error {
	switch {
	case !t.until.IsZero() && !now.Before(t.until):
		return errExpired
	case now.Before(t.from):
		return errNotYetValid
	}
	return nil
}
