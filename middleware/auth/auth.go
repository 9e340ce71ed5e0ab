// Package auth verifies bearer tokens: JSON Web Tokens (RFC 7519), signed with a secret, with a
// private key whose public key is known, or by an issuer that publishes its keys at a URL.
//
//	verifier, err := auth.New(auth.Options{Secrets: []auth.Secret{secret}})
//	…
//	subject, err := verifier.Verify(ctx, token)
//
// [Verifier.Verify] is a middleware.Verify. It looks a token up in the cache (auth.go), else it parses the token and
// checks its signature (token.go) and claims (claims.go). The keys are secrets (secret.go), public keys (key.go) in
// PEM or a JWK Set (parse.go), and those of an issuer (issuer.go).
package auth

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plantstore/models"
)

// Options are the keys of a [Verifier], and the claims that it requires. With zero Options it
// refuses every token.
type Options struct {
	// Secrets are the HS256 keys that tokens may be signed with.
	Secrets []Secret
	// Keys are the public keys of those who may sign tokens.
	Keys []Key
	// JWKSURL is the URL of an issuer's JWK Set, which [Verifier.Watch] keeps current; empty: none.
	// It must pass [CheckJWKSURL].
	JWKSURL string

	// Issuers are the accepted values of iss; nil: no requirement.
	Issuers []string
	// Audiences are the values of which aud must be or contain one; nil: no requirement.
	Audiences []string
	// Scope is the required element of scope or, in a token without scope, of scp; empty: no
	// requirement.
	Scope string
	// RequireExp rejects tokens without exp.
	RequireExp bool

	// Logger logs what happens to the issuer's keys; nil: nothing is logged.
	Logger *slog.Logger
}

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options Options // without Secrets and Keys
	issuer  *issuer // nil: none

	hits, misses atomic.Uint64 // of the token cache
	refused      [reasons]atomic.Uint64
	trusted      atomic.Pointer[trusted]
	mu           sync.Mutex // guards the following
	own          []boundKey // set by SetKeys
	issued       []boundKey // fetched from the issuer
}

// New returns a Verifier. It fails for a secret that fails [Secret.Check], for a key that fails
// [Key.Algorithms], for a URL that fails [CheckJWKSURL], and for more than four keys of an algorithm, secrets
// included, with the same ID or without one: a token is tried with at most four (C4.25a).
func New(o Options) (*Verifier, error) {
	v := &Verifier{options: o}
	v.options.Secrets, v.options.Keys = nil, nil
	if o.JWKSURL != "" {
		if err := CheckJWKSURL(o.JWKSURL); err != nil {
			return nil, fmt.Errorf("the URL of the issuer's keys %w", err)
		}
		v.issuer = newIssuer(o.JWKSURL, func(keys []boundKey) error { return v.replace(&v.issued, keys) }, o.Logger)
	}
	if err := v.SetKeys(o.Secrets, o.Keys); err != nil {
		return nil, err
	}
	return v, nil
}

// SetKeys replaces the secrets and public keys that tokens may be signed with, except those of
// the issuer. Tokens signed with removed keys are rejected from then on. It fails as [New] does, with the
// keys of the issuer counted too, and then keeps the previous keys.
func (v *Verifier) SetKeys(secrets []Secret, public []Key) error {
	keys, err := bind(secrets, public)
	if err == nil {
		err = v.replace(&v.own, keys)
	}
	return err
}

// replace replaces v.own or v.issued, unless [checkTrials] fails for both together.
func (v *Verifier) replace(current *[]boundKey, keys []boundKey) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.trusted.Load() != nil && reflect.DeepEqual(*current, keys) {
		return nil // keep the cache
	}
	previous := *current
	*current = keys
	all := slices.Concat(v.own, v.issued)
	if err := checkTrials(all); err != nil {
		*current = previous
		return err
	}
	v.trusted.Store(&trusted{keys: all, verified: map[string]verified{}})
	return nil
}

// Verify returns the subject of a valid token: sub, or empty if that is not a string. It fails with a
// [models.Error] of CodeUnauthorized, of CodeForbidden if only the scope is missing, or of CodeUnavailable if
// no key verifies the token and the issuer has never given keys (C4.25b).
//
// Valid tokens are cached. Their times are checked at each use. A token with an unknown kid may wait for
// the issuer's keys, until ctx is done.
func (v *Verifier) Verify(ctx context.Context, token string) (subject string, err error) {
	found, cached, err := v.find(ctx, token)
	if cached {
		v.hits.Add(1)
	} else {
		v.misses.Add(1)
	}
	refusal, refused := errors.AsType[*refusal](err)
	if !refused {
		return found.subject, err
	}
	v.refused[refusal.reason].Add(1)
	return "", models.NewError(refusal.reason.code(), refusal.message).WithCause(refusal)
}

// Accepts reports whether Verify would accept a token. It does not count it.
func (v *Verifier) Accepts(ctx context.Context, token string) bool {
	_, _, err := v.find(ctx, token)
	return err == nil
}

// find verifies a token, and reports whether it was in the cache.
func (v *Verifier) find(ctx context.Context, token string) (found verified, cached bool, err error) {
	trusted := v.trusted.Load()
	if found, cached = trusted.get(token); cached {
		err = found.at(time.Now())
	} else if found, trusted, err = v.authenticate(ctx, trusted, token); err == nil {
		trusted.put(token, found)
	}
	return found, cached, err
}

// MissingScope returns the Error for a valid token without a scope.
func MissingScope(scope string) *models.Error {
	return models.Errorf(models.CodeForbidden, "the access token lacks the scope %s", scope)
}

// authenticate verifies a token that is not in the cache, and returns the keys that it has used.
func (v *Verifier) authenticate(ctx context.Context, used *trusted, token string) (found verified, _ *trusted, err error) {
	t, err := parse(token)
	if err == nil {
		used, err = v.checkSignature(ctx, used, t)
	}
	if err == nil {
		found, err = v.options.check(t.claims)
	}
	return found, used, err
}

// checkSignature verifies the signature of a token. If its kid is unknown, it first refreshes the keys of the
// issuer. It returns the keys that it has used.
func (v *Verifier) checkSignature(ctx context.Context, used *trusted, t parsedToken) (*trusted, error) {
	err := t.verify(used.keys)
	if err == nil || v.issuer == nil {
		return used, err
	}
	known := func(k boundKey) bool { return k.id == t.kid }
	if !v.issuer.given.Load() || t.kid != "" && !slices.ContainsFunc(used.keys, known) {
		v.issuer.refresh(ctx, t.kid)
		if now := v.trusted.Load(); now != used { // by this fetch, or one that has ended before
			used, err = now, t.verify(now.keys)
		}
	}
	if err != nil && !v.issuer.given.Load() {
		err = errNoKeys
	}
	return used, err
}

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

// Stats are counts since the start, and the state of the issuer.
type Stats struct {
	CacheHits   uint64          // tokens found in the cache of verified tokens
	CacheMisses uint64          // all others, including rejected tokens
	Refused     [reasons]uint64 // credentials by their Reason
	Issuer      *IssuerStats    // nil: there is none
}

// Stats returns the current statistics.
func (v *Verifier) Stats() Stats {
	s := Stats{CacheHits: v.hits.Load(), CacheMisses: v.misses.Load()}
	for reason := range s.Refused {
		s.Refused[reason] = v.refused[reason].Load()
	}
	if v.issuer != nil {
		v.issuer.mu.Lock()
		defer v.issuer.mu.Unlock()
		s.Issuer = new(v.issuer.stats)
	}
	return s
}
