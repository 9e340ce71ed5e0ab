// Package auth issues and verifies the bearer tokens of the service: JSON Web
// Tokens (RFC 7519), signed with a secret or with a private key.
package auth

import (
	"errors"
	"fmt"
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

// Options configure which tokens a [Verifier] accepts.
type Options struct {
	// Keys are the keys that tokens may be signed with.
	Keys []Key
	// Issuers are the accepted values of iss; nil: no requirement.
	Issuers []string
	// Audiences are the values of which aud must be or contain one; nil: no requirement.
	Audiences []string
	// Scope is the required element of scope or, in a token without scope, of scp; empty: no
	// requirement.
	Scope string
	// RequireExp rejects tokens without exp.
	RequireExp bool
}

// A Verifier verifies tokens. It is safe for concurrent use.
type Verifier struct {
	options Options // without Keys
	parser  *jwt.Parser
	issuer  *Issuer // may be nil

	hits, misses atomic.Uint64 // of the token cache
	refused      refusals
	trusted      atomic.Pointer[trusted]
	mu           sync.Mutex // guards the following
	own          []Key      // set by SetKeys
	issued       []Key      // fetched from the issuer
}

// A trusted holds the current keys and the tokens verified with them. New keys start with an
// empty cache, so that no token outlives the key that it was signed with.
type trusted struct {
	keys []Key

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

// NewVerifier returns a Verifier with the given options.
func NewVerifier(options Options) *Verifier {
	parser := jwt.NewParser(jwt.WithValidMethods(algorithms()), jwt.WithStrictDecoding(), jwt.WithLeeway(leeway))
	jwt.RegisterSigningMethod(ed25519Alg, func() jwt.SigningMethod { return jwt.SigningMethodEdDSA })
	v := &Verifier{options: options, parser: parser}
	v.options.Keys = nil
	v.SetKeys(options.Keys)
	return v
}

// SetKeys replaces the keys that tokens may be signed with, except those of an [Issuer].
// Tokens signed with removed keys are rejected from then on.
func (v *Verifier) SetKeys(keys []Key) { v.replace(&v.own, keys) }

func (v *Verifier) setIssued(keys []Key) { v.replace(&v.issued, keys) }

func (v *Verifier) replace(current *[]Key, keys []Key) {
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
// Valid tokens are cached. Their times are checked at each use.
func (v *Verifier) Verify(token string) (subject string, err error) {
	trusted := v.trusted.Load()
	found, cached := trusted.get(token)
	if cached {
		v.hits.Add(1)
		err = found.at(time.Now())
	} else {
		v.misses.Add(1)
		if found, trusted, err = v.authenticate(trusted, token); err == nil {
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
func (v *Verifier) Accepts(token string) bool {
	trusted := v.trusted.Load()
	found, cached := trusted.get(token)
	err := found.at(time.Now())
	if !cached {
		found, _, err = v.authenticate(trusted, token)
	}
	return err == nil && found.scoped
}

// MissingScope returns the Error for a valid token without a scope.
func MissingScope(scope string) *models.Error {
	return models.Errorf(models.CodeForbidden, "the access token lacks the scope %s", scope)
}

// authenticate verifies a token that is not in the cache. If the kid of the token is unknown, it
// first refreshes the keys of the issuer. It also returns the keys that it has used.
func (v *Verifier) authenticate(before *trusted, token string) (verified, *trusted, error) {
	used := before
	claims, err := v.parse(used.keys, token)
	if errors.Is(err, errUnknownKey) && v.issuer != nil {
		v.issuer.refresh()
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
func (v *Verifier) parse(keys []Key, token string) (*tokenClaims, error) {
	if err := checkForm(token); err != nil {
		return nil, err
	}
	claims, unknownKid := &tokenClaims{required: &v.options}, false
	// The keys that are bound to the token's algorithm and match its kid. A token or a key
	// without a kid matches all. Keys in the header itself are ignored (C4.21).
	choose := func(token *jwt.Token) (any, error) {
		kid, _ := token.Header["kid"].(string)
		unknownKid = kid != "" && !slices.ContainsFunc(keys, func(k Key) bool { return k.id == kid })
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
		issuer := v.issuer.Stats()
		s.Issuer = &issuer
	}
	return s
}
