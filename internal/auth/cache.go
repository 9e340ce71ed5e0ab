package auth

import (
	"crypto/sha256"
	"sync"
)

// A digest is the SHA-256 of a token.
type digest = [sha256.Size]byte

// A cache holds the claims of verified tokens, at most limit of them. It keeps at least
// the limit/2 most recently used tokens: when the younger of two generations is full, it
// replaces the older.
type cache struct {
	mu             sync.Mutex
	younger, older map[digest]*Claims
	limit          int
}

func newCache(limit int) *cache {
	return &cache{younger: make(map[digest]*Claims), limit: limit}
}

// get returns the claims of the token with digest d, or nil.
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

// put adds the claims of the token with digest d.
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
