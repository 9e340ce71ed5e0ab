package auth

import (
	"crypto/ed25519"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"testing"
)

// smallOrder returns all encodings of points of small order that a verifier may accept:
// the eight points, points with y written as y + p, and x = 0 with a sign.
func smallOrder() []string {
	return []string{
		"0100000000000000000000000000000000000000000000000000000000000000", // order 1
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f", // order 2
		"0000000000000000000000000000000000000000000000000000000000000000", // order 4
		"0000000000000000000000000000000000000000000000000000000000000080",
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a", // order 8
		"c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
		"26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85",
		"0100000000000000000000000000000000000000000000000000000000000080", // not canonical
		"ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
		"edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff",
	}
}

// TestSmallOrderKeys checks that keys of small order are refused. The first half of the test
// shows that anyone can forge a signature for them.
func TestSmallOrderKeys(t *testing.T) {
	t.Parallel()
	for _, text := range smallOrder() {
		key, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if !forged(key) {
			t.Errorf("%s: no signature was forged, so it is no vector", text)
		}
		if _, err := newPublicKey("", "", ed25519.PublicKey(key)); !errors.Is(err, ErrUnfitKey) {
			t.Errorf("%s: %v, want ErrUnfitKey", text, err)
		}
	}
}

// forged forges a signature without the private key: with S = 0 the equation is R = -k*A,
// one of at most eight points for any message.
func forged(key ed25519.PublicKey) bool {
	for i := range 64 {
		message := fmt.Appendf(nil, "message %d", i)
		for _, point := range smallOrder() {
			r, _ := hex.DecodeString(point)
			if ed25519.Verify(key, message, append(r, make([]byte, 32)...)) {
				return true
			}
		}
	}
	return false
}

// TestBadEd25519Keys checks that a key that can't verify any signature is rejected when it is
// loaded.
func TestBadEd25519Keys(t *testing.T) {
	t.Parallel()
	nonCanonical := make([]byte, 32)
	for i := range nonCanonical {
		nonCanonical[i] = 0xff
	}
	for name, key := range map[string]ed25519.PublicKey{
		"not on the curve": append([]byte{2}, make([]byte, 31)...),
		"not canonical":    nonCanonical,
		"too short":        make([]byte, 31),
		"empty":            nil,
	} {
		if _, err := newPublicKey("", "", key); !errors.Is(err, ErrUnfitKey) {
			t.Errorf("%s: %v, want ErrUnfitKey", name, err)
		}
	}
	for i := range byte(100) {
		seed := append(make([]byte, 31), i)
		key, _ := ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey)
		if _, err := newPublicKey("", "", key); err != nil {
			t.Errorf("a good key: %v", err)
		}
	}
}

// TestWeakModuli checks that a modulus that can be factored is rejected at any size.
func TestWeakModuli(t *testing.T) {
	t.Parallel()
	good, _ := privateKeys(t)[0].(*rsa.PrivateKey)
	p := good.Primes[0]
	next := new(big.Int).Add(p, big.NewInt(2))
	for !next.ProbablyPrime(0) {
		next.Add(next, big.NewInt(2))
	}
	times := func(a *big.Int, b int64) *big.Int { return new(big.Int).Mul(a, big.NewInt(b)) }
	mersenne := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 2203), big.NewInt(1))
	const small = "has a factor below 65536"
	for _, test := range []struct {
		n    *big.Int
		want string
	}{
		{times(good.N, 2), small},
		{times(good.N, 3), small},
		{times(good.N, 751), small},
		{times(good.N, 65521), small},
		{mersenne, "is a prime"},
		{new(big.Int).Mul(p, next), "is the product of two numbers that are close to each other"},
	} {
		if got := weaknessOf(test.n); got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
		if _, err := newPublicKey("", "", &rsa.PublicKey{N: test.n, E: 65537}); !errors.Is(err, ErrUnfitKey) {
			t.Errorf("%s: %v, want ErrUnfitKey", test.want, err)
		}
	}
	if square := new(big.Int).Mul(p, p); !closeFactors(square) {
		t.Error("a square is not recognised")
	}
	if got := weaknessOf(good.N); got != "" {
		t.Errorf("a good modulus %s", got)
	}
	for _, e := range []int{-3, 0, 1, 2, 4, 1 << 31} {
		if err := checkRSA(&rsa.PublicKey{N: good.N, E: e}); !errors.Is(err, ErrUnfitKey) {
			t.Errorf("exponent %d: %v", e, err)
		}
	}
}

// BenchmarkCheckRSA measures the check of the largest accepted modulus.
func BenchmarkCheckRSA(b *testing.B) {
	n := new(big.Int).SetBit(big.NewInt(1), maxRSA-1, 1)
	for weaknessOf(n) != "" {
		n.Add(n, big.NewInt(2))
	}
	for b.Loop() {
		if err := checkRSA(&rsa.PublicKey{N: n, E: 65537}); err != nil {
			b.Fatal(err)
		}
	}
}
