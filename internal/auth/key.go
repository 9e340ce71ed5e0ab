package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// ErrUnfitKey is returned for a key that is too weak or of an unsupported type.
var ErrUnfitKey = errors.New("the key cannot be used")

// ErrAlgorithm is returned, together with [ErrUnfitKey], for an algorithm that the type
// of a key does not support.
var ErrAlgorithm = errors.New("keys of its type do not support the algorithm")

// errCurve is returned for an EC key on an unsupported curve.
var errCurve = fmt.Errorf("%w: an EC key must be on the curve P-256, P-384 or P-521", ErrUnfitKey)

// algorithms returns all supported algorithms.
func algorithms() []string {
	return []string{"HS256", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// A Key verifies signatures, only by the algorithms that it is bound to (C4.21). It prints
// as REDACTED, since it may be a secret (C4.25).
type Key struct {
	// id is the kid of tokens signed with the key; empty: any or none.
	id         string
	algorithms []string
	material   any // for jwt.SigningMethod.Verify
}

// Format implements [fmt.Formatter], for every verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, models.Redacted) }

// Key returns the key that verifies tokens signed with the secret, by HS256.
func (s Secret) Key() Key {
	return Key{algorithms: []string{jwt.SigningMethodHS256.Alg()}, material: []byte(s)}
}

// newPublicKey returns the key of tokens with the given kid. A non-empty alg binds it to
// one of the algorithms of its type. It fails with [ErrUnfitKey].
func newPublicKey(kid, alg string, public any) (Key, error) {
	algorithms, err := algorithmsOf(public)
	if err != nil {
		return Key{}, err
	}
	if alg != "" {
		if !slices.Contains(algorithms, alg) {
			return Key{}, fmt.Errorf("%w: %w %q, only %s", ErrUnfitKey, ErrAlgorithm, alg, strings.Join(algorithms, ", "))
		}
		algorithms = []string{alg}
	}
	return Key{id: kid, algorithms: algorithms, material: public}, nil
}

// algorithmsOf checks the strength of a public key, and returns the algorithms of its
// type, the most common one first (RFC 7518, section 3.1; RFC 8037).
func algorithmsOf(public any) ([]string, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, checkRSA(key)
	case *ecdsa.PublicKey:
		return algorithmsOfCurve(key)
	case ed25519.PublicKey:
		return []string{"EdDSA"}, checkEd25519(key)
	default:
		return nil, fmt.Errorf("%w: tokens are signed with RSA, EC or Ed25519 keys", ErrUnfitKey)
	}
}

// algorithmsOfCurve returns the only algorithm of the key's curve. The JWT library does
// not check it.
func algorithmsOfCurve(key *ecdsa.PublicKey) ([]string, error) {
	algorithm, known := map[elliptic.Curve]string{
		elliptic.P256(): "ES256", elliptic.P384(): "ES384", elliptic.P521(): "ES512",
	}[key.Curve]
	if !known {
		return nil, errCurve
	}
	if _, err := key.ECDH(); err != nil { // a JWK may have arbitrary coordinates
		return nil, fmt.Errorf("%w: it is not a point on its curve", ErrUnfitKey)
	}
	return []string{algorithm}, nil
}

// unreadable returns the error for a key that the standard library can't parse. For
// unsupported curves, such as secp256k1, that is errCurve.
func unreadable(err error) error {
	if text := err.Error(); strings.Contains(text, "unsupported elliptic curve") || strings.Contains(text, "unknown elliptic curve") {
		return errCurve
	}
	return fmt.Errorf("%w: %w", ErrUnfitKey, err)
}

// verifies reports whether the key may verify a token with the given kid and alg.
func (k Key) verifies(kid, alg string) bool {
	return (k.id == "" || kid == "" || k.id == kid) && slices.Contains(k.algorithms, alg)
}
