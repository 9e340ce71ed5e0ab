package auth

import (
	"crypto/sha256"
	"sync"

	"plantstore/internal/recent"
)

// A digest is the SHA-256 of a token.
type digest = [sha256.Size]byte

// A cache holds the claims of verified tokens, at most as many as its limit.
type cache struct {
	mu     sync.Mutex
	claims *recent.Map[digest, *Claims]
}

func newCache(limit int) *cache {
	return &cache{claims: recent.New[digest, *Claims](limit)}
}

// get returns the claims of the token with digest d, or nil.
func (c *cache) get(d digest) *Claims {
	c.mu.Lock()
	defer c.mu.Unlock()
	claims, _ := c.claims.Get(d)
	return claims
}

// put adds the claims of the token with digest d.
func (c *cache) put(d digest, claims *Claims) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.claims.Put(d, claims)
}
