package auth

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/models"
)

// TestKeysAreBoundToAlgorithms checks that with keys of all kinds trusted, a token is verified
// only with keys of its algorithm (C4.21).
func TestKeysAreBoundToAlgorithms(t *testing.T) {
	t.Parallel()
	all := kinds(t)
	var keys []Key
	for _, kind := range all {
		keys = append(keys, kind.key)
	}
	verifier := NewVerifier(Options{Keys: keys})
	for _, kind := range all {
		if _, err := verifier.Verify(kind.token(`{}`)); err != nil {
			t.Errorf("%s: %v", kind.alg, err)
		}
		for _, other := range all {
			if other.alg == kind.alg {
				continue
			}
			_, err := verifier.Verify(kind.signAs(`{"alg":"`+other.alg+`"}`, `{}`))
			checkRefusal(t, err, models.CodeUnauthorized, badSignature)
		}
	}
}

// TestKeysOfOthersAreRefused checks that a different key of the same kind does not verify a
// token.
func TestKeysOfOthersAreRefused(t *testing.T) {
	t.Parallel()
	mine, theirs := kinds(t), kinds(t)
	for i, kind := range mine {
		if kind.alg == "HS256" { // the secret is the same
			continue
		}
		_, err := kind.verifier().Verify(theirs[i].token(`{}`))
		checkRefusal(t, err, models.CodeUnauthorized, badSignature)
	}
}

// TestAlgOfKey checks that the alg of a JWK excludes the other algorithms of its type.
func TestAlgOfKey(t *testing.T) {
	t.Parallel()
	for _, kind := range kinds(t)[1:] {
		key, err := newPublicKey("", kind.alg, kind.key.material)
		if err != nil {
			t.Errorf("%s: %v", kind.alg, err)
		}
		for _, alg := range algorithms() {
			if got := key.verifies("", alg); got != (alg == kind.alg) {
				t.Errorf("a key for %s verifies %s: %t", kind.alg, alg, got)
			}
			if _, err := newPublicKey("", alg, kind.key.material); (err == nil) != kind.key.verifies("", alg) {
				t.Errorf("alg %s of a key for %s: %v", alg, kind.alg, err)
			}
		}
	}
}

func TestKidChoosesKey(t *testing.T) {
	t.Parallel()
	a, b := ecKind(t, "a"), ecKind(t, "b")
	verifier := NewVerifier(Options{Keys: []Key{a.key, b.key}})
	for header, accepted := range map[string]bool{
		`{"alg":"HS256"}`:            true,
		`{"alg":"HS256","kid":""}`:   true,
		`{"alg":"HS256","kid":"a"}`:  true,
		`{"alg":"HS256","kid":null}`: true,
		`{"alg":"HS256","kid":"b"}`:  false,
		`{"alg":"HS256","kid":"A"}`:  false,
		`{"alg":"HS256","kid":"a "}`: false,
		`{"alg":"HS256","kid":"c"}`:  false,
		`{"alg":"HS256","KID":"b"}`:  true,
	} {
		if _, err := verifier.Verify(a.headed(header)); (err == nil) != accepted {
			t.Errorf("%s by key a: %v, want accepted: %t", header, err, accepted)
		}
	}
}

// ecKind returns a key for ES256 with a kid.
func ecKind(t *testing.T, kid string) kind {
	t.Helper()
	private := ecKey(t, elliptic.P256())
	key := must.Get(newPublicKey(kid, "", private.Public()))(t)
	return kind{"ES256", key, private, publicPEM(t, private)}
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
		verifier.SetKeys([]Key{fresh.key, old.key})
		checkVerifies(t, verifier, map[string]bool{first: true, second: true})
		before := verifier.trusted.Load()
		verifier.SetKeys([]Key{fresh.key, old.key})
		if verifier.trusted.Load() != before {
			t.Error("the cache is emptied by the same keys")
		}
		verifier.SetKeys([]Key{fresh.key})
		checkVerifies(t, verifier, map[string]bool{first: false, second: true})
		verifier.SetKeys(nil)
		checkVerifies(t, verifier, map[string]bool{first: false, second: false})
	}
}

func checkVerifies(t *testing.T, v *Verifier, tokens map[string]bool) {
	t.Helper()
	for token, want := range tokens {
		if _, err := v.Verify(token); (err == nil) != want {
			t.Errorf("%.30s...: %v, want accepted: %t", token, err, want)
		}
	}
}

// TestVerifiedTokenIsCheap checks that verifying a cached token needs no allocation, for any
// kind of key.
//
//nolint:paralleltest // it counts allocations
func TestVerifiedTokenIsCheap(t *testing.T) {
	for _, kind := range kinds(t) {
		verifier, token := kind.verifier(), kind.token(`{"exp":99999999999}`)
		must.Get(verifier.Verify(token))(t)
		allocations := testing.AllocsPerRun(100, func() {
			if _, err := verifier.Verify(token); err != nil {
				t.Error(err)
			}
		})
		if allocations > 0 {
			t.Errorf("%s: %v allocations", kind.alg, allocations)
		}
	}
}

func TestUnfitKeys(t *testing.T) {
	t.Parallel()
	modulus := func(bits int) *rsa.PublicKey {
		return &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), bits-1, 1), E: 65537}
	}
	for name, key := range map[string]any{
		"1024 bits": modulus(1024),
		"2047 bits": modulus(2047),
		"8193 bits": modulus(8193),
		"P-224":     &ecKey(t, elliptic.P224()).PublicKey,
		"a secret":  []byte(testSecret),
		"nothing":   nil,
	} {
		if _, err := newPublicKey("", "", key); !errors.Is(err, errUnfitKey) {
			t.Errorf("%s: %v, want errUnfitKey", name, err)
		}
	}
	for _, key := range []any{modulus(2048), modulus(8192)} {
		if _, err := newPublicKey("", "", key); err != nil {
			t.Error(err)
		}
	}
}

func TestKeyIsRedacted(t *testing.T) {
	t.Parallel()
	private := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	signer := &PrivateKey{key: private}
	for _, printed := range []string{fmt.Sprintf("%v %+v %#v %x", signer, signer, signer, signer), fmt.Sprint(Secret(testSecret).Key())} {
		if strings.ReplaceAll(strings.ReplaceAll(printed, models.Redacted, ""), " ", "") != "" {
			t.Error(printed)
		}
	}
}
