package auth

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// ErrUnfitKey is the error of a key that is too weak for signatures, or of a kind
// that no token is signed with.
var ErrUnfitKey = errors.New("the key does not fit")

// ErrAlgorithm is the error, together with [ErrUnfitKey], of a key that is to be used by
// an algorithm which is none for keys of its kind.
var ErrAlgorithm = errors.New("keys of its kind have other algorithms than")

// errCurve is about an EC key for which there is no algorithm.
var errCurve = fmt.Errorf("%w: an EC key must be on the curve P-256, P-384 or P-521", ErrUnfitKey)

// The bounds of the modulus of an RSA key, in bits: RFC 7518, section 3.3, and what
// can be verified in well below a millisecond.
const (
	minRSA = 2048
	maxRSA = 8192
)

// algorithms returns all that there may be keys for.
func algorithms() []string {
	return []string{"HS256", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
}

// A Key verifies signatures, by the algorithms that it is bound to and by no other
// (C4.21). Printed it reads REDACTED, since it may be a secret (C4.25).
type Key struct {
	// id is the kid of the tokens that are signed with it; empty means that
	// any or none will do.
	id         string
	algorithms []string
	material   any // as jwt.SigningMethod.Verify takes it
}

// Format implements [fmt.Formatter], for every verb.
func (Key) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// Key returns the key of the tokens that are signed with the secret, by HS256.
func (s Secret) Key() Key {
	return Key{algorithms: []string{jwt.SigningMethodHS256.Alg()}, material: []byte(s)}
}

// newPublicKey returns the key of the tokens with that kid. An alg binds it to one
// of the algorithms that its kind allows. It fails with [ErrUnfitKey].
func newPublicKey(kid, alg string, public any) (Key, error) {
	algorithms, err := algorithmsOf(public)
	if err != nil {
		return Key{}, err
	}
	if alg != "" {
		if !slices.Contains(algorithms, alg) {
			return Key{}, fmt.Errorf("%w: %w %q: %s", ErrUnfitKey, ErrAlgorithm, alg, strings.Join(algorithms, ", "))
		}
		algorithms = []string{alg}
	}
	return Key{id: kid, algorithms: algorithms, material: public}, nil
}

// algorithmsOf returns the algorithms that a public key can verify, the usual one
// first (RFC 7518, section 3.1; RFC 8037), after it has checked its strength.
func algorithmsOf(public any) ([]string, error) {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return []string{"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"}, checkRSA(key)
	case *ecdsa.PublicKey:
		return algorithmsOfCurve(key)
	case ed25519.PublicKey:
		return []string{"EdDSA"}, nil
	default:
		return nil, fmt.Errorf("%w: tokens are signed with RSA, EC or Ed25519 keys", ErrUnfitKey)
	}
}

func checkRSA(key *rsa.PublicKey) error {
	if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
		return fmt.Errorf("%w: an RSA key must have %d to %d bits, and has %d", ErrUnfitKey, minRSA, maxRSA, bits)
	}
	if key.E < 3 || key.E%2 == 0 {
		return fmt.Errorf("%w: an RSA key cannot have the exponent %d", ErrUnfitKey, key.E)
	}
	return nil
}

// algorithmsOfCurve binds a key to the one algorithm of its curve, which the JWT
// library does not do.
func algorithmsOfCurve(key *ecdsa.PublicKey) ([]string, error) {
	algorithm, known := map[elliptic.Curve]string{
		elliptic.P256(): "ES256", elliptic.P384(): "ES384", elliptic.P521(): "ES512",
	}[key.Curve]
	if !known {
		return nil, errCurve
	}
	if _, err := key.ECDH(); err != nil { // a JWK can name any two numbers
		return nil, fmt.Errorf("%w: it is no point on its curve", ErrUnfitKey)
	}
	return []string{algorithm}, nil
}

// unreadable is the error of a key that the standard library cannot read. Of curves that
// it does not know, such as secp256k1, it says no more than that.
func unreadable(err error) error {
	if text := err.Error(); strings.Contains(text, "unsupported elliptic curve") || strings.Contains(text, "unknown elliptic curve") {
		return errCurve
	}
	return fmt.Errorf("%w: %w", ErrUnfitKey, err)
}

// verifies reports whether the key may verify a token with that kid and alg.
func (k Key) verifies(kid, alg string) bool {
	return (k.id == "" || kid == "" || k.id == kid) && slices.Contains(k.algorithms, alg)
}

// sameKeys reports whether nothing has changed.
func sameKeys(a, b []Key) bool {
	return slices.EqualFunc(a, b, func(a, b Key) bool { return reflect.DeepEqual(a, b) })
}
