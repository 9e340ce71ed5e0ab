package auth

// Stats counts look-ups in the cache of verified tokens.
type Stats struct {
	CacheHits   uint64 // tokens found in the cache
	CacheMisses uint64 // all others, including rejected tokens
}

// Stats returns the counts since the start.
func (v *Verifier) Stats() Stats {
	return Stats{CacheHits: v.hits.Load(), CacheMisses: v.misses.Load()}
}
