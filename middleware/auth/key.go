package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"errors"
	"fmt"
	"slices"
	"strings"
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

// A Key is the public key of someone who may sign tokens.
type Key struct {
	// ID is the kid of tokens signed with the key; empty: any or none.
	ID string
	// Alg is the only algorithm of the signatures; empty: all those of the key's type.
	Alg string
	// Public is an *[rsa.PublicKey] of 2048 to 8192 bits, an *[ecdsa.PublicKey] on the curve P-256,
	// P-384 or P-521, or an [ed25519.PublicKey].
	Public crypto.PublicKey
}

// Algorithms returns the algorithms of the signatures that the key verifies, the most common one
// first (C4.21). It fails for a key that cannot be used, and with [ErrAlgorithm] for the algorithm of
// another type.
func (k Key) Algorithms() ([]string, error) {
	algorithms, err := algorithmsOf(k.Public)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnfitKey, err)
	case k.Alg == "":
		return algorithms, nil
	case !slices.Contains(algorithms, k.Alg):
		return nil, fmt.Errorf("%w: %w %q, only %s", errUnfitKey, ErrAlgorithm, k.Alg, strings.Join(algorithms, ", "))
	}
	return []string{k.Alg}, nil
}

// A boundKey verifies signatures, only by the algorithms that it is bound to (C4.21).
type boundKey struct {
	id         string // as in Key
	algorithms []string
	material   any // for jwt.SigningMethod.Verify
}

func (k boundKey) verifies(kid, alg string) bool {
	return (k.id == "" || kid == "" || k.id == kid) && slices.Contains(k.algorithms, alg)
}

func bindAll(keys []Key) (bound []boundKey, err error) {
	for _, key := range keys {
		algorithms, err := key.Algorithms()
		if err != nil {
			return nil, err
		}
		bound = append(bound, boundKey{key.ID, algorithms, key.Public})
	}
	return bound, nil
}

// algorithmsOf returns the algorithms of the type of a public key (RFC 7518, section 3.1; RFC 8037).
// The JWT library does not check the curve of a key.
func algorithmsOf(public crypto.PublicKey) ([]string, error) {
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
