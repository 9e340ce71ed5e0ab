package auth

import (
	"context"
	"crypto/rsa"
	"errors"
	"math/big"
	"slices"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

// TestKeysAreBoundToAlgorithms checks that with keys of all kinds trusted, a token is verified
// only with keys of its algorithm (C4.21), and never with a different key of the same kind. RFC 9864
// names EdDSA Ed25519.
func TestKeysAreBoundToAlgorithms(t *testing.T) {
	t.Parallel()
	all, others := kinds(t), kinds(t)
	verifier := newVerifier(Options{Secrets: secretsOf(all), Keys: keysOf(all)})
	for i, kind := range all {
		for _, alg := range append(algorithms(), "Ed25519", "HS384", "HS512") {
			fits := alg == kind.alg || alg == "Ed25519" && kind.alg == "EdDSA"
			if _, err := verifier.Verify(context.Background(), kind.signAs(`{"alg":"`+alg+`"}`, `{}`)); (err == nil) != fits {
				t.Errorf("%s by a key for %s: %v, want it accepted: %t", alg, kind.alg, err, fits)
			}
		}
		for _, alg := range []string{"HS256", "HS384", "HS512"} {
			byPublicKey := hmacKind(alg, kind.public).headed(`{"alg":"HS256"}`)
			checkRefuses(t, verifier, byPublicKey, models.CodeUnauthorized, badSignature)
		}
		if kind.alg != "HS256" { // the secret is the same
			checkRefuses(t, verifier, others[i].token(`{}`), models.CodeUnauthorized, badSignature)
		}
	}
}

// TestAlgOfKey checks that the alg of a JWK excludes the other algorithms of its type.
func TestAlgOfKey(t *testing.T) {
	t.Parallel()
	key := Key{Alg: "PS256", Public: privateKeys(t)[0].Public()}
	if algorithms, err := key.Algorithms(); err != nil || !slices.Equal(algorithms, []string{"PS256"}) {
		t.Errorf("a key for PS256 verifies %q, %v", algorithms, err)
	}
}

// TestKidChoosesKey checks that a token with a kid is verified only with the key that has it.
func TestKidChoosesKey(t *testing.T) {
	t.Parallel()
	a, b := ecKind(t, "a"), ecKind(t, "b")
	verifier := newVerifier(Options{Keys: []Key{a.key, b.key}})
	for header, accepted := range map[string]bool{
		`{"alg":"HS256"}`:           true,
		`{"alg":"HS256","kid":"a"}`: true,
		`{"alg":"HS256","kid":7}`:   true,
		`{"alg":"HS256","kid":"b"}`: false,
		`{"alg":"HS256","kid":"A"}`: false,
		`{"alg":"HS256","KID":"b"}`: true,
	} {
		if _, err := verifier.Verify(context.Background(), a.headed(header)); (err == nil) != accepted {
			t.Errorf("%s by key a: %v, want accepted: %t", header, err, accepted)
		}
	}
}

// TestRotation checks that a token is rejected, even from the cache, as soon as its key is
// removed. Setting the same keys again keeps the cache.
func TestRotation(t *testing.T) {
	t.Parallel()
	fresh := ecKind(t, "")
	second := fresh.token(`{}`)
	for _, old := range kinds(t) {
		first := old.token(`{}`)
		verifier := old.verifier()
		checkVerifies(t, verifier, map[string]bool{first: true, second: false})
		setKeys(t, verifier, fresh, old)
		checkVerifies(t, verifier, map[string]bool{first: true, second: true})
		before := verifier.trusted.Load()
		setKeys(t, verifier, fresh, old)
		if verifier.trusted.Load() != before {
			t.Error("the cache is emptied by the same keys")
		}
		setKeys(t, verifier, fresh)
		checkVerifies(t, verifier, map[string]bool{first: false, second: true})
		setKeys(t, verifier)
		checkVerifies(t, verifier, map[string]bool{first: false, second: false})
	}
}

// TestVerifiedTokenIsCheap checks that verifying a cached token needs no allocation, for any
// kind of key.
//
//nolint:paralleltest // it counts allocations
func TestVerifiedTokenIsCheap(t *testing.T) {
	for _, kind := range kinds(t) {
		verifier, token := kind.verifier(), kind.token(`{"exp":99999999999}`)
		must.Get(verifier.Verify(context.Background(), token))(t)
		allocations := testing.AllocsPerRun(100, func() {
			if _, err := verifier.Verify(context.Background(), token); err != nil {
				t.Error(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%s: %v allocations", kind.alg, allocations)
		}
	}
}

// TestSizeOfRSAKey checks the limits of a modulus.
func TestSizeOfRSAKey(t *testing.T) {
	t.Parallel()
	for bits, fits := range map[int]bool{2047: false, 2048: true, 8192: true, 8193: false} {
		key := &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), bits-1, 1), E: 65537}
		if _, err := (Key{Public: key}).Algorithms(); (err == nil) != fits || !fits && !errors.Is(err, errUnfitKey) {
			t.Errorf("%d bits: %v, want it to fit: %t", bits, err, fits)
		}
	}
}
