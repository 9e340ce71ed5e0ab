// Package auth verifies bearer tokens: JSON Web Tokens (RFC 7519), signed with a secret, with a
// private key whose public key is known, or by an issuer that publishes its keys at a URL.
//
//	verifier, err := auth.New(auth.Options{Secrets: []auth.Secret{secret}})
//	…
//	subject, err := verifier.Verify(ctx, token)
//
// [Verifier.Verify] is a middleware.Verify.
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

	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// leeway is the maximum clock difference between issuer and server (C4.22).
const leeway = 5 * time.Second

const (
	// cacheBytes bounds the memory of the cache of verified tokens.
	cacheBytes = 16 << 20
	// entryBytes is about the memory of a token in the cache besides the token itself, with a
	// subject of the maximum length.
	entryBytes = 400
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
	parser  *jwt.Parser
	issuer  *issuer // nil: none

	hits, misses atomic.Uint64 // of the token cache
	refused      refusals
	trusted      atomic.Pointer[trusted]
	mu           sync.Mutex // guards the following
	own          []boundKey // set by SetKeys
	issued       []boundKey // fetched from the issuer
}

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
		return jwt.ErrTokenExpired
	case now.Before(t.from):
		return jwt.ErrTokenNotValidYet
	}
	return nil
}

// New returns a Verifier. It fails for a secret that fails [Secret.Check], for a key that fails
// [Key.Algorithms], and for a URL that fails [CheckJWKSURL].
func New(o Options) (*Verifier, error) {
	parser := jwt.NewParser(jwt.WithValidMethods(algorithms()), jwt.WithStrictDecoding(), jwt.WithLeeway(leeway))
	jwt.RegisterSigningMethod(ed25519Alg, func() jwt.SigningMethod { return jwt.SigningMethodEdDSA })
	v := &Verifier{options: o, parser: parser}
	v.options.Secrets, v.options.Keys = nil, nil
	if o.JWKSURL != "" {
		if err := CheckJWKSURL(o.JWKSURL); err != nil {
			return nil, fmt.Errorf("the URL of the issuer's keys %w", err)
		}
		v.issuer = newIssuer(o.JWKSURL, v.setIssued, o.Logger)
	}
	return v, v.SetKeys(o.Secrets, o.Keys)
}

// SetKeys replaces the secrets and public keys that tokens may be signed with, except those of
// the issuer. Tokens signed with removed keys are rejected from then on. It fails as [New] does,
// and then keeps the previous keys.
func (v *Verifier) SetKeys(secrets []Secret, public []Key) error {
	var own []boundKey
	for _, secret := range secrets {
		if err := secret.Check(); err != nil {
			return err
		}
		own = append(own, secret.bind())
	}
	issued, err := bindAll(public)
	if err != nil {
		return err
	}
	v.replace(&v.own, append(own, issued...))
	return nil
}

// setIssued replaces the keys of the issuer, which were checked when they were parsed.
func (v *Verifier) setIssued(keys []Key) {
	bound, _ := bindAll(keys)
	v.replace(&v.issued, bound)
}

func (v *Verifier) replace(current *[]boundKey, keys []boundKey) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.trusted.Load() != nil && reflect.DeepEqual(*current, keys) {
		return // keep the cache
	}
	*current = keys
	v.trusted.Store(&trusted{keys: slices.Concat(v.own, v.issued), verified: map[string]verified{}})
}

// Verify returns the subject of a valid token: sub, or empty if that is not a string. It fails with a [models.Error] of
// CodeUnauthorized or, if only the scope is missing, of CodeForbidden.
//
// Valid tokens are cached. Their times are checked at each use. A token with an unknown kid may wait for
// the issuer's keys, until ctx is done.
func (v *Verifier) Verify(ctx context.Context, token string) (subject string, err error) {
	trusted := v.trusted.Load()
	found, cached := trusted.get(token)
	if cached {
		v.hits.Add(1)
		err = found.at(time.Now())
	} else {
		v.misses.Add(1)
		if found, trusted, err = v.authenticate(ctx, trusted, token); err == nil {
			trusted.put(token, found)
		}
	}
	if err != nil {
		return "", v.refuse(token, err)
	}
	if !found.scoped {
		v.refused[ReasonScope].Add(1)
		return "", MissingScope(v.options.Scope)
	}
	return found.subject, nil
}

// Accepts reports whether Verify would accept a token. It neither counts nor caches it.
func (v *Verifier) Accepts(ctx context.Context, token string) bool {
	trusted := v.trusted.Load()
	found, cached := trusted.get(token)
	err := found.at(time.Now())
	if !cached {
		found, _, err = v.authenticate(ctx, trusted, token)
	}
	return err == nil && found.scoped
}

// MissingScope returns the Error for a valid token without a scope.
func MissingScope(scope string) *models.Error {
	return models.Errorf(models.CodeForbidden, "the access token lacks the scope %s", scope)
}

// authenticate verifies a token that is not in the cache. If the kid of the token is unknown, it
// first refreshes the keys of the issuer. It also returns the keys that it has used.
func (v *Verifier) authenticate(ctx context.Context, before *trusted, token string) (verified, *trusted, error) {
	used := before
	claims, err := v.parse(used.keys, token)
	if errors.Is(err, errUnknownKey) && v.issuer != nil {
		v.issuer.refresh(ctx)
		if used = v.trusted.Load(); used != before { // by this fetch, or one that has ended before
			claims, err = v.parse(used.keys, token)
		}
	}
	if err != nil {
		return verified{}, used, err
	}
	return claims.verified(v.options.Scope), used, nil
}

// parse checks the format of a token, its signature and its claims (C4.21 to C4.23).
func (v *Verifier) parse(keys []boundKey, token string) (*tokenClaims, error) {
	if err := checkForm(token); err != nil {
		return nil, err
	}
	claims, unknownKid := &tokenClaims{required: &v.options}, false
	// The keys that are bound to the token's algorithm and match its kid. A token or a key
	// without a kid matches all. Keys in the header itself are ignored (C4.21).
	choose := func(token *jwt.Token) (any, error) {
		kid, _ := token.Header["kid"].(string)
		unknownKid = kid != "" && !slices.ContainsFunc(keys, func(k boundKey) bool { return k.id == kid })
		var set jwt.VerificationKeySet
		for _, key := range keys {
			if key.verifies(kid, token.Method.Alg()) {
				set.Keys = append(set.Keys, key.material)
			}
		}
		if set.Keys == nil {
			return nil, errNoKey
		}
		return set, nil
	}
	if _, err := v.parser.ParseWithClaims(token, claims, choose); err != nil {
		if unknownKid && !errors.Is(err, jwt.ErrTokenInvalidClaims) {
			err = fmt.Errorf("%w: %w", errUnknownKey, err)
		}
		return nil, err
	}
	return claims, nil
}

// Errors of tokens for which there is no key.
var (
	errNoKey      = errors.New("no key matches the algorithm and kid of the token")
	errUnknownKey = errors.New("no key has this kid")
)

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
		issuer := v.issuer.currentStats()
		s.Issuer = &issuer
	}
	return s
}
