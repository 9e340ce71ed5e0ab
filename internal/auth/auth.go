// Package auth issues and verifies the bearer tokens of the service: JSON Web
// Tokens (RFC 7519) signed with HS256.
package auth

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// cachedTokens bounds the cache of verified tokens, at about 200 bytes a token.
const cachedTokens = 32_768

// Options say which tokens a [Verifier] accepts.
type Options struct {
	// Secret is the HS256 key.
	Secret Secret
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
	secret    Secret
	scope     string
	parser    *jwt.Parser
	validator *jwt.Validator
	verified  *cache
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
	return &Verifier{
		secret: options.Secret,
		scope:  options.Scope,
		parser: jwt.NewParser(
			jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
			jwt.WithStrictDecoding(),
			jwt.WithoutClaimsValidation(), // the validator does it, at each use
		),
		validator: jwt.NewValidator(rules...),
		verified:  newCache(cachedTokens),
	}
}

// Verify returns the claims of a token that may be used now. It fails with a
// [models.Error] of CodeUnauthorized or, if only the scope is missing, of
// CodeForbidden.
//
// A token whose signature was found good is remembered by its SHA-256, so that
// no other token can take its place; its times are checked at each use.
func (v *Verifier) Verify(token string) (*Claims, error) {
	digest := sha256.Sum256([]byte(token))
	claims := v.verified.get(digest)
	if claims == nil {
		var err error
		if claims, err = v.parse(token); err != nil {
			return nil, models.NewError(models.CodeUnauthorized, explain(err)).WithCause(err)
		}
		v.verified.put(digest, claims)
	}
	if err := v.validator.Validate(claims); err != nil {
		return nil, models.NewError(models.CodeUnauthorized, explain(err)).WithCause(err)
	}
	if v.scope != "" && !slices.Contains(strings.Fields(claims.scope), v.scope) {
		return nil, models.Errorf(models.CodeForbidden, "the access token lacks the scope %s", v.scope)
	}
	return claims, nil
}

// parse checks the form of the token and its signature (C4.21, C4.23).
func (v *Verifier) parse(token string) (*Claims, error) {
	if err := checkForm(token); err != nil {
		return nil, err
	}
	claims := new(Claims)
	key := func(*jwt.Token) (any, error) { return []byte(v.secret), nil }
	if _, err := v.parser.ParseWithClaims(token, claims, key); err != nil {
		return nil, err
	}
	if !claims.read { // null is JSON as well
		return nil, errClaims
	}
	return claims, nil
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
		return "the access token is not signed with HS256 and the secret of this server"
	}
}
