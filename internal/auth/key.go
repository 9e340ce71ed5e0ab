package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"

	"plantstore/models"
)

// errUnfitKey is returned for a key that is too weak or of an unsupported type.
var errUnfitKey = errors.New("the key cannot be used")

// ErrAlgorithm is returned for an algorithm that the type
// of a key does not support.
var ErrAlgorithm = errors.New("keys of its type do not support the algorithm")

// The limits of an RSA modulus in bits. The minimum is from RFC 7518, section 3.3; the
// maximum keeps verification well below a millisecond.
const (
	minRSA = 2048
	maxRSA = 8192
)

func algorithms() []string {
	return []string{"HS256", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// ed25519Alg is the name that RFC 9864, section 2.2, gives to EdDSA by an Ed25519 key.
const ed25519Alg = "Ed25519"

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
// one of the algorithms of its type.
func newPublicKey(kid, alg string, public any) (Key, error) {
	algorithms, err := algorithmsOf(public)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", errUnfitKey, err)
	}
	if alg != "" {
		if !slices.Contains(algorithms, alg) {
			return Key{}, fmt.Errorf("%w: %w %q, only %s", errUnfitKey, ErrAlgorithm, alg, strings.Join(algorithms, ", "))
		}
		algorithms = []string{alg}
	}
	return Key{id: kid, algorithms: algorithms, material: public}, nil
}

// algorithmsOf returns the algorithms of the type of a public key, the most common one first
// (RFC 7518, section 3.1; RFC 8037). The JWT library does not check the curve of a key.
func algorithmsOf(public any) ([]string, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return nil, fmt.Errorf("an RSA key must have %d to %d bits, and has %d", minRSA, maxRSA, bits)
		}
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
	case *ecdsa.PublicKey:
		curve := key.Curve.Params().Name
		if algorithm, known := map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}[curve]; known {
			return []string{algorithm}, nil
		}
		return nil, fmt.Errorf("an EC key must be on the curve P-256, P-384 or P-521, and is on %s", curve)
	case ed25519.PublicKey:
		return []string{"EdDSA"}, nil
	default:
		return nil, errors.New("tokens are signed with RSA, EC or Ed25519 keys")
	}
}

func (k Key) verifies(kid, alg string) bool {
	return (k.id == "" || kid == "" || k.id == kid) && slices.Contains(k.algorithms, alg)
}
