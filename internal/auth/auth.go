// Package auth issues and verifies the bearer tokens of the service: JSON Web
// Tokens (RFC 7519), signed with a secret or with a private key.
package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// cachedTokens bounds the cache of verified tokens, at about 200 bytes a token.
const cachedTokens = 32_768

// usualToken is the size in bytes that most tokens do not exceed.
const usualToken = 1 << 10

// Options say which tokens a [Verifier] accepts.
type Options struct {
	// Keys are those that tokens may be signed with.
	Keys []Key
	// Issuer is what iss must be; empty means that any or none will do.
	Issuer string
	// Audience is what aud must be or contain; empty means that any or none will do.
	Audience string
	// Scope is what scope (RFC 8693, section 4.2) must contain; empty means
	// that any or none will do.
	Scope string
	// RequireExp refuses tokens without exp.
	RequireExp bool
	// Leeway is how far the clocks of issuer and server may differ.
	Leeway time.Duration
}

// A Verifier verifies tokens. It may be used by any number of goroutines.
type Verifier struct {
	scope     string
	parser    *jwt.Parser
	validator *jwt.Validator
	issuer    *Issuer // nil if there is none

	hits, misses atomic.Uint64 // of the caches of trusted
	trusted      atomic.Pointer[trusted]
	mu           sync.Mutex // of what trusted is made from
	own          []Key      // set by SetKeys
	issued       []Key      // fetched from the issuer
}

// A trusted holds keys, and the tokens that were verified with them. Other keys come
// with an empty cache: no token outlives the key that it was signed with.
type trusted struct {
	keys     []Key
	verified *cache
}

// NewVerifier returns a Verifier of the tokens that options describe.
func NewVerifier(options Options) *Verifier {
	rules := []jwt.ParserOption{jwt.WithLeeway(options.Leeway)}
	if options.Issuer != "" {
		rules = append(rules, jwt.WithIssuer(options.Issuer))
	}
	if options.Audience != "" {
		rules = append(rules, jwt.WithAudience(options.Audience))
	}
	if options.RequireExp {
		rules = append(rules, jwt.WithExpirationRequired())
	}
	v := &Verifier{
		scope: options.Scope,
		parser: jwt.NewParser(
			jwt.WithValidMethods(algorithms()),
			jwt.WithStrictDecoding(),
			jwt.WithoutClaimsValidation(), // the validator does it, at each use
		),
		validator: jwt.NewValidator(rules...),
	}
	v.SetKeys(options.Keys)
	return v
}

// SetKeys replaces the keys that tokens may be signed with, but for those of an
// [Issuer]. Tokens of others are refused from now on.
func (v *Verifier) SetKeys(keys []Key) { v.change(&v.own, keys) }

// setIssued replaces the keys of the issuer.
func (v *Verifier) setIssued(keys []Key) { v.change(&v.issued, keys) }

func (v *Verifier) change(place *[]Key, keys []Key) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.trusted.Load() != nil && sameKeys(*place, keys) {
		return // what was verified still is
	}
	*place = keys
	v.trusted.Store(&trusted{keys: slices.Concat(v.own, v.issued), verified: newCache(cachedTokens)})
}

// Verify returns the claims of a token that may be used now. It fails with a
// [models.Error] of CodeUnauthorized or, if only the scope is missing, of
// CodeForbidden.
//
// A token whose signature was found good is remembered by its SHA-256, so that
// no other token can take its place; its times are checked at each use.
func (v *Verifier) Verify(token string) (*Claims, error) {
	var usual [usualToken]byte // longer ones get memory of their own
	digest := sha256.Sum256(append(usual[:0], token...))
	trusted := v.trusted.Load()
	claims := trusted.verified.get(digest)
	if claims != nil {
		v.hits.Add(1)
	} else {
		v.misses.Add(1)
		var err error
		if claims, err = v.authenticate(trusted, digest, token); err != nil {
			return nil, models.NewError(models.CodeUnauthorized, explain(err)).WithCause(err)
		}
	}
	if err := v.validator.Validate(claims); err != nil {
		return nil, models.NewError(models.CodeUnauthorized, explain(err)).WithCause(err)
	}
	if v.scope != "" && !slices.Contains(strings.Fields(claims.scope), v.scope) {
		return nil, models.Errorf(models.CodeForbidden, "the access token lacks the scope %s", v.scope)
	}
	return claims, nil
}

// authenticate returns the claims of a token that none of the trusted keys has been
// asked about before. If it names a key that is not known, the issuer may have a new one.
func (v *Verifier) authenticate(trusted *trusted, digest digest, token string) (*Claims, error) {
	claims, err := v.parse(trusted.keys, token)
	if errors.Is(err, errUnknownKey) && v.issuer != nil && v.issuer.renew() {
		trusted = v.trusted.Load()
		claims, err = v.parse(trusted.keys, token)
	}
	if err != nil {
		return nil, err
	}
	trusted.verified.put(digest, claims)
	return claims, nil
}

// CacheStats returns how often tokens were remembered so far.
func (v *Verifier) CacheStats() CacheStats {
	return CacheStats{Hits: v.hits.Load(), Misses: v.misses.Load()}
}

// parse checks the form of the token and its signature (C4.21, C4.23).
func (v *Verifier) parse(keys []Key, token string) (*Claims, error) {
	if err := checkForm(token); err != nil {
		return nil, err
	}
	claims, stranger := new(Claims), false
	choose := func(token *jwt.Token) (any, error) {
		kid, _ := token.Header["kid"].(string)
		stranger = kid != "" && !slices.ContainsFunc(keys, func(k Key) bool { return k.id == kid })
		return choose(keys, kid, token.Method.Alg())
	}
	if _, err := v.parser.ParseWithClaims(token, claims, choose); err != nil {
		if stranger {
			err = fmt.Errorf("%w: %w", errUnknownKey, err)
		}
		return nil, err
	}
	if !claims.read { // null is JSON as well
		return nil, errClaims
	}
	return claims, nil
}

// Errors of tokens that no key fits.
var (
	errNoKeyFits  = errors.New("no key fits")
	errUnknownKey = errors.New("no key has this kid")
)

// choose returns the keys that a token may be signed with: those that are bound to its
// algorithm, and have its kid or none. What else its header says of keys is ignored
// (C4.21).
func choose(keys []Key, kid, algorithm string) (any, error) {
	var set jwt.VerificationKeySet
	for _, key := range keys {
		if key.verifies(kid, algorithm) {
			set.Keys = append(set.Keys, key.material)
		}
	}
	if set.Keys == nil {
		return nil, errNoKeyFits
	}
	return set, nil
}

// explain says in words for a client why the token was refused (C1.5).
func explain(err error) string {
	var misfit *claimError
	switch {
	case errors.As(err, &misfit):
		return fmt.Sprintf("the access token is not valid: %s must be %s", misfit.claim, misfit.want)
	case errors.Is(err, jwt.ErrTokenExpired):
		return "the access token has expired; get a new one"
	case errors.Is(err, jwt.ErrTokenNotValidYet):
		return "the access token is not valid yet"
	case errors.Is(err, jwt.ErrTokenRequiredClaimMissing):
		return "the access token lacks a claim that is required here (exp, iss or aud)"
	case errors.Is(err, jwt.ErrTokenInvalidIssuer):
		return "the access token is from an issuer (iss) that is not accepted here"
	case errors.Is(err, jwt.ErrTokenInvalidAudience):
		return "the access token is meant for another audience (aud)"
	case errors.Is(err, jwt.ErrTokenMalformed):
		return "the access token is not a well-formed JSON Web Token"
	default:
		return "the access token is not signed with a key that this server accepts"
	}
}
