package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
)

var (
	// errUnfitKey is returned for a key that is too weak or of an unsupported type.
	errUnfitKey = errors.New("the key cannot be used")
	// ErrAlgorithm is returned for an algorithm that the type of a key does not support.
	ErrAlgorithm = errors.New("keys of its type do not support the algorithm")
)

// The limits of an RSA modulus in bits. The minimum is from RFC 7518, section 3.3; the maximum, and
// that of the exponent, keep verification below a millisecond.
const (
	minRSA      = 2048
	maxRSA      = 4096
	maxExponent = 65537
)

// ed25519Alg is the name that RFC 9864, section 2.2, gives to EdDSA by an Ed25519 key.
const ed25519Alg = "Ed25519"

// A Key is the public key of someone who may sign tokens.
type Key struct {
	// ID is the kid of tokens signed with the key; empty: any or none.
	ID string
	// Alg is the only algorithm of the signatures; empty: all those of the key's type.
	Alg string
	// Public is an *[rsa.PublicKey] of 2048 to 4096 bits, an *[ecdsa.PublicKey] on the curve P-256,
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

// bind returns the keys of valid secrets and public keys.
func bind(secrets []Secret, public []Key) (bound []boundKey, err error) {
	for _, secret := range secrets {
		if err := secret.Check(); err != nil {
			return nil, err
		}
		bound = append(bound, boundKey{algorithms: []string{"HS256"}, material: []byte(secret)})
	}
	for _, key := range public {
		algorithms, err := key.Algorithms()
		if err != nil {
			return nil, err
		}
		bound = append(bound, boundKey{key.ID, algorithms, key.Public})
	}
	return bound, nil
}

// checkTrials returns an error if one of the keys would never be tried: keys of an algorithm with the same ID,
// or without one, are tried with the same tokens, at most maxTrials of them.
func checkTrials(keys []boundKey) error {
	sizes := map[[2]string]int{}
	for _, key := range keys {
		for _, algorithm := range key.algorithms {
			tried := [2]string{algorithm, key.id}
			if sizes[tried]++; sizes[tried] > maxTrials {
				return fmt.Errorf("more than %d keys for %s, of all sources, have no kid or the same one, and a token is tried with at most %[1]d", maxTrials, algorithm)
			}
		}
	}
	return nil
}

// algorithmsOf returns the algorithms of the type of a public key (RFC 7518, section 3.1; RFC 8037).
// The JWT library does not check the curve of a key.
func algorithmsOf(public crypto.PublicKey) ([]string, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
			return nil, fmt.Errorf("an RSA key must have %d to %d bits, and has %d", minRSA, maxRSA, bits)
		}
		if key.N.Bit(0) == 0 || key.E&1 == 0 || key.E < 3 || key.E > maxExponent {
			return nil, fmt.Errorf("an RSA key must have an odd modulus, and an odd exponent from 3 to %d", maxExponent)
		}
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, nil
	case *ecdsa.PublicKey:
		curve := key.Curve.Params().Name
		algorithm, known := map[string]string{"P-256": "ES256", "P-384": "ES384", "P-521": "ES512"}[curve]
		if !known {
			return nil, fmt.Errorf("an EC key must be on the curve P-256, P-384 or P-521, and is on %s", curve)
		}
		return []string{algorithm}, nil
	case ed25519.PublicKey:
		if len(key) != ed25519.PublicKeySize || hasLowOrder(key) {
			return nil, errors.New("an Ed25519 key must have 32 bytes, and not be of low order: it would verify forged signatures")
		}
		return []string{"EdDSA"}, nil
	default:
		return nil, errors.New("tokens are signed with RSA, EC or Ed25519 keys")
	}
}

// hasLowOrder reports whether an Ed25519 key is a point of order 1, 2, 4 or 8: its y coordinate, in
// little-endian order below the sign of x, is 0, 1, -1 or one of two others, perhaps not reduced.
func hasLowOrder(key ed25519.PublicKey) bool {
	y := hex.EncodeToString(append(slices.Clone(key[:31]), key[31]&0x7f))
	return slices.Contains([]string{
		"00" + strings.Repeat("00", 31), "01" + strings.Repeat("00", 31),
		"ec" + strings.Repeat("ff", 30) + "7f", "ed" + strings.Repeat("ff", 30) + "7f", "ee" + strings.Repeat("ff", 30) + "7f",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05", "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
	}, y)
}
