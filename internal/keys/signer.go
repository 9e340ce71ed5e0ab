package keys

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
	"plantstore/middleware/auth"
	"plantstore/models"
)

// A Signer signs tokens with a secret or a private key. It prints as REDACTED (C4.25).
type Signer struct {
	kid    string
	method jwt.SigningMethod
	key    any // []byte or crypto.Signer
}

// HS256 returns the Signer with a secret.
func HS256(secret auth.Secret) *Signer {
	return &Signer{method: jwt.SigningMethodHS256, key: []byte(secret)}
}

// Format implements [fmt.Formatter], for every verb.
func (*Signer) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, models.Redacted) }

// A Grant holds the claims of a token for [Signer.Issue]. Empty fields are omitted.
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

// GrantFor returns the claims of a token that a server with o accepts, if it has the key. Of several
// issuers and audiences it has the first.
func GrantFor(o auth.Options, subject string, ttl time.Duration) Grant {
	return Grant{Subject: subject, Issuer: cmp.Or(o.Issuers...), Audience: cmp.Or(o.Audiences...), Scope: o.Scope, TTL: ttl}
}

// Issue returns a signed token with the claims of grant. It fails for a subject that servers
// reject.
func (s *Signer) Issue(grant Grant, now time.Time) (string, error) {
	if len(grant.Subject) > auth.MaxSubject {
		return "", fmt.Errorf("the subject has %d bytes, and servers accept at most %d", len(grant.Subject), auth.MaxSubject)
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
	token := jwt.NewWithClaims(s.method, claims)
	delete(token.Header, "typ") // optional: a link with the token is shorter
	if s.kid != "" {
		token.Header["kid"] = s.kid
	}
	return token.SignedString(s.key)
}

// Alg returns the algorithm, such as RS256.
func (s *Signer) Alg() string { return s.method.Alg() }

// Kid returns the kid of tokens; empty: none.
func (s *Signer) Kid() string { return s.kid }

// SetKid sets the kid of tokens; empty: none.
func (s *Signer) SetKid(kid string) { s.kid = kid }

// Sign returns the signature of text.
func (s *Signer) Sign(text string) ([]byte, error) { return s.method.Sign(text, s.key) }

// public returns the public key of a private key; nil for a secret.
func (s *Signer) public() crypto.PublicKey {
	if private, ok := s.key.(crypto.Signer); ok {
		return private.Public()
	}
	return nil
}

// PublicPEM returns the public key of a private key in PEM.
func (s *Signer) PublicPEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(s.public())
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// Among searches keys for the public key, and returns its kid.
func (s *Signer) Among(keys []auth.Key) (kid string, found bool) {
	i := slices.IndexFunc(keys, func(key auth.Key) bool {
		algorithms, _ := key.Algorithms()
		return reflect.DeepEqual(key.Public, s.public()) && slices.Contains(algorithms, s.Alg())
	})
	if i < 0 {
		return "", false
	}
	return keys[i].ID, true
}

// ReadPrivateKey returns the private key in a PEM file: PRIVATE KEY (PKCS #8),
// RSA PRIVATE KEY (PKCS #1) or EC PRIVATE KEY (SEC 1), not encrypted. An empty algorithm
// selects the default of the key's type: RS256, ES256, ES384 or ES512 by its curve, or
// EdDSA. It fails with [auth.ErrAlgorithm], for a key that servers reject, and as
// [files.ReadSecret] does.
func ReadPrivateKey(path, algorithm string) (*Signer, error) {
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

func parsePrivatePEM(contents []byte, algorithm string) (*Signer, error) {
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
		return nil, fmt.Errorf("its key is a %T, which does not sign", key)
	}
	algorithms, err := auth.Key{Alg: algorithm, Public: private.Public()}.Algorithms()
	if err != nil {
		return nil, err
	}
	return &Signer{method: jwt.GetSigningMethod(algorithms[0]), key: private}, nil
}

func parseBlock(block *pem.Block) (key any, err error) {
	switch {
	case block.Type == "ENCRYPTED PRIVATE KEY", block.Headers["DEK-Info"] != "":
		return nil, errors.New("the key is encrypted; decrypt it first: openssl pkey -in FILE -out OTHER")
	case block.Type == "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case block.Type == "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case block.Type == "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	default:
		return nil, fmt.Errorf("it holds a PEM block %q instead of a private key", block.Type)
	}
	if err != nil {
		err = fmt.Errorf("the key cannot be used: %w", err)
	}
	return key, err
}
