package auth

import (
	"time"

	"github.com/golang-jwt/jwt/v5"
)

// A Grant says what a token that [Issue] makes shall hold. Empty members are
// left out.
type Grant struct {
	Subject  string
	Issuer   string
	Audience string
	Scope    string
	// TTL is how long the token is good from now on; 0 means for ever.
	TTL time.Duration
}

// Issue returns a token for that grant.
func Issue(signer Signer, grant Grant, now time.Time) (string, error) {
	claims := jwt.MapClaims{"iat": now.Unix()}
	for name, value := range map[string]string{
		"sub": grant.Subject, "iss": grant.Issuer, "aud": grant.Audience, "scope": grant.Scope,
	} {
		if value != "" {
			claims[name] = value
		}
	}
	if grant.TTL > 0 {
		claims["exp"] = now.Add(grant.TTL).Unix()
	}
	method, key, kid := signer.signing()
	token := jwt.NewWithClaims(method, claims)
	if kid != "" {
		token.Header["kid"] = kid
	}
	return token.SignedString(key)
}
