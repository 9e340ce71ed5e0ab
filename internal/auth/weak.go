package auth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
	"math"
	"math/big"
	"sync"

	"filippo.io/edwards25519"
)

// The limits of an RSA modulus in bits. The minimum is from RFC 7518, section 3.3; the
// maximum keeps verification well below a millisecond.
const (
	minRSA = 2048
	maxRSA = 8192
)

// smallFactor limits the search for a small factor of a modulus. NIST SP 800-89, 5.3.3,
// requires 752.
const smallFactor = 1 << 16

// smallFactors returns the product of all numbers from 2 to [smallFactor].
//
//nolint:gochecknoglobals // a constant, which takes 20 ms to compute
var smallFactors = sync.OnceValue(func() *big.Int { return new(big.Int).MulRange(2, smallFactor) })

// maxPrimeTest is the maximum length in bits of moduli that are tested for primality. A
// longer one would take half a second.
const maxPrimeTest = 4096

// fermatSteps limits the search for two close factors. The factors of a random key take
// some 2^900 steps.
const fermatSteps = 100

// checkRSA rejects a key that is too short, too long or easily factored (NIST SP 800-89,
// 5.3.3).
func checkRSA(key *rsa.PublicKey) error {
	if bits := key.N.BitLen(); bits < minRSA || bits > maxRSA {
		return fmt.Errorf("%w: an RSA key must have %d to %d bits, and has %d", ErrUnfitKey, minRSA, maxRSA, bits)
	}
	if key.E < 3 || key.E%2 == 0 || key.E > math.MaxInt32 { // the limit of crypto/rsa
		return fmt.Errorf("%w: an RSA key cannot have the exponent %d", ErrUnfitKey, key.E)
	}
	if weakness := weaknessOf(key.N); weakness != "" {
		return fmt.Errorf("%w: the modulus of the RSA key %s, so that anybody can sign with it; make another key", ErrUnfitKey, weakness)
	}
	return nil
}

// weaknessOf describes why a modulus is easily factored; empty: it is not.
func weaknessOf(n *big.Int) string {
	switch {
	case new(big.Int).GCD(nil, nil, n, smallFactors()).Cmp(big.NewInt(1)) > 0:
		return fmt.Sprintf("has a factor below %d", smallFactor)
	case n.BitLen() <= maxPrimeTest && n.ProbablyPrime(0):
		return "is a prime"
	case closeFactors(n):
		return "is the product of two numbers that are close to each other"
	}
	return ""
}

// closeFactors reports whether n has two factors near its square root. By Fermat's
// method, a*a - n is then the square of half their difference.
func closeFactors(n *big.Int) bool {
	a, one := new(big.Int).Sqrt(n), big.NewInt(1)
	if new(big.Int).Mul(a, a).Cmp(n) < 0 {
		a.Add(a, one)
	}
	square, root := new(big.Int), new(big.Int)
	for range fermatSteps {
		square.Sub(square.Mul(a, a), n)
		root.Sqrt(square)
		if root.Mul(root, root).Cmp(square) == 0 {
			return true
		}
		a.Add(a, one)
	}
	return false
}

// checkEd25519 rejects a key that is not the canonical encoding of a point on the curve,
// or that has small order: anyone can forge a signature for such a key, which is valid for
// many messages (RFC 8032, 5.1.3; Chalkias, Garillot, Nikolaenko: Taming the Many EdDSAs).
func checkEd25519(key ed25519.PublicKey) error {
	point, err := new(edwards25519.Point).SetBytes(key)
	switch {
	case err != nil || !bytes.Equal(point.Bytes(), key):
		return fmt.Errorf("%w: it is not a point on the curve of Ed25519 in canonical form", ErrUnfitKey)
	case new(edwards25519.Point).MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 1:
		return fmt.Errorf("%w: the Ed25519 key is a point of small order, so that anybody can sign with it; make another key", ErrUnfitKey)
	}
	return nil
}
