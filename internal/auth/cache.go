package auth

import (
	"crypto/sha256"
	"sync"
)

// A digest is the SHA-256 of a token.
type digest = [sha256.Size]byte

// A cache remembers the claims of verified tokens, at most limit of them and
// the most recently used ones for sure up to half of that: when the younger of
// two generations is full, it takes the place of the older.
type cache struct {
	mu             sync.Mutex
	younger, older map[digest]*Claims
	limit          int
}

// CacheStats are how many tokens were remembered when they came, and how many had
// to be verified.
type CacheStats struct {
	Hits, Misses uint64
}

func newCache(limit int) *cache {
	return &cache{younger: make(map[digest]*Claims), limit: limit}
}

// get returns the claims of the token with that digest, or nil.
func (c *cache) get(d digest) *Claims {
	c.mu.Lock()
	defer c.mu.Unlock()
	if claims, ok := c.younger[d]; ok {
		return claims
	}
	claims, ok := c.older[d]
	if ok {
		c.add(d, claims)
	}
	return claims
}

// put remembers the claims of the token with that digest.
func (c *cache) put(d digest, claims *Claims) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(d, claims)
}

func (c *cache) add(d digest, claims *Claims) {
	if len(c.younger) >= c.limit/2 {
		c.younger, c.older = make(map[digest]*Claims), c.younger
	}
	c.younger[d] = claims
}
