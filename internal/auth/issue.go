package auth

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// A Grant holds the claims of a token for [Issue]. Empty fields are omitted.
type Grant struct {
	Subject  string
	Issuer   string
	Audience string
	Scope    string
	// TTL is the lifetime; 0: no expiry, negative: the token has expired.
	TTL time.Duration
}

// Issue returns a signed token with the claims of grant.
func Issue(signer Signer, grant Grant, now time.Time) (string, error) {
	claims := jwt.MapClaims{"iat": now.Unix()}
	for name, value := range map[string]string{
		"sub": grant.Subject, "iss": grant.Issuer, "aud": grant.Audience, "scope": grant.Scope,
	} {
		if value != "" {
			claims[name] = value
		}
	}
	if grant.TTL != 0 {
		claims["exp"] = now.Add(grant.TTL).Unix()
	}
	method, key, kid := signer.signing()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	return token.SignedString(key)
}
