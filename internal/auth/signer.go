package auth

import (
	"cmp"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/internal/files"
	"plantstore/models"
)

// A Signer signs tokens: a [Secret] or a [PrivateKey].
type Signer interface {
	// signing returns the method, the key, and the kid of the token (may be empty).
	signing() (method jwt.SigningMethod, key any, kid string)
}

func (s Secret) signing() (method jwt.SigningMethod, key any, kid string) {
	return jwt.SigningMethodHS256, []byte(s), ""
}

// A Grant holds the claims of a token for [Issue]. Empty fields are omitted.
type Grant struct {
	Subject  string
	Issuer   string
	Audience string
	Scope    string
	// TTL is the lifetime; 0: no expiry, negative: the token has expired.
	TTL time.Duration
}

const (
	// DefaultSubject is the subject of a token if none is given.
	DefaultSubject = "developer"
	// LinkLifetime is the lifetime of the token in a link to the docs page.
	LinkLifetime = time.Hour
)

// Grant returns the claims of a token that a [Verifier] with o accepts, if it has the key. Of several
// issuers and audiences it has the first.
func (o Options) Grant(subject string, ttl time.Duration) Grant {
	return Grant{Subject: subject, Issuer: cmp.Or(o.Issuers...), Audience: cmp.Or(o.Audiences...), Scope: o.Scope, TTL: ttl}
}

// Issue returns a signed token with the claims of grant. It fails for a subject that servers
// reject.
func Issue(signer Signer, grant Grant, now time.Time) (string, error) {
	if len(grant.Subject) > maxSubject {
		return "", fmt.Errorf("the subject has %d bytes, and servers accept at most %d", len(grant.Subject), maxSubject)
	}
	claims := jwt.MapClaims{}
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
	delete(token.Header, "typ") // optional: a link with the token is shorter
	if kid != "" {
		token.Header["kid"] = kid
	}
	return token.SignedString(key)
}

// A PrivateKey signs tokens by one algorithm. It prints as REDACTED (C4.25).
type PrivateKey struct {
	kid    string
	method jwt.SigningMethod
	key    crypto.Signer
}

// Format implements [fmt.Formatter], for every verb.
func (*PrivateKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, models.Redacted) }

func (k *PrivateKey) signing() (method jwt.SigningMethod, key any, kid string) {
	return k.method, k.key, k.kid
}

// Alg returns the algorithm of the key, such as RS256.
func (k *PrivateKey) Alg() string { return k.method.Alg() }

// Kid returns the kid of tokens signed with the key; empty: none.
func (k *PrivateKey) Kid() string { return k.kid }

// Sign returns the signature of text.
func (k *PrivateKey) Sign(text string) ([]byte, error) { return k.method.Sign(text, k.key) }

// PublicPEM returns the public key in PEM.
func (k *PrivateKey) PublicPEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(k.key.Public())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// SetKid sets the kid of tokens signed with the key; empty: none.
func (k *PrivateKey) SetKid(kid string) { k.kid = kid }

// Among searches keys for the public key, and returns its kid.
func (k *PrivateKey) Among(keys []Key) (kid string, found bool) {
	i := slices.IndexFunc(keys, func(key Key) bool {
		return reflect.DeepEqual(key.material, k.key.Public()) && slices.Contains(key.algorithms, k.Alg())
	})
	if i < 0 {
		return "", false
	}
	return keys[i].id, true
}

// ReadPrivateKey returns the private key in a PEM file: PRIVATE KEY (PKCS #8),
// RSA PRIVATE KEY (PKCS #1) or EC PRIVATE KEY (SEC 1), not encrypted. An empty algorithm
// selects the default of the key's type: RS256, ES256, ES384 or ES512 by its curve, or
// EdDSA. It fails with [ErrAlgorithm], for a key that servers reject, and as
// [files.ReadSecret] does.
func ReadPrivateKey(path, algorithm string) (*PrivateKey, error) {
	contents, err := files.ReadSecret(path)
	if err != nil {
		return nil, err
	}
	key, err := parsePrivatePEM(contents, algorithm)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

func parsePrivatePEM(contents []byte, algorithm string) (*PrivateKey, error) {
	block, rest := pem.Decode(contents)
	if block != nil && block.Type == "EC PARAMETERS" { // written by openssl ecparam before the key
		block, _ = pem.Decode(rest)
	}
	if block == nil {
		return nil, errors.New("it holds no PEM block PRIVATE KEY")
	}
	key, err := parseBlock(block)
	if err != nil {
		return nil, err
	}
	private, ok := key.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("it holds a PEM block %q instead of a private key that signs", block.Type)
	}
	public, err := newPublicKey("", algorithm, private.Public())
	if err != nil {
		return nil, err
	}
	return &PrivateKey{method: jwt.GetSigningMethod(public.algorithms[0]), key: private}, nil
}
