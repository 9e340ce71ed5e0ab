package auth

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"encoding/hex"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/must"
)

// TestKeysAreBoundToAlgorithms checks that with keys of all kinds trusted, a token is verified
// only with keys of its algorithm (C4.21), and never with a different key of the same kind. RFC 9864
// names EdDSA Ed25519.
func TestKeysAreBoundToAlgorithms(t *testing.T) {
	t.Parallel()
	all, others := kinds(t), kinds(t)
	verifier := newVerifier(optionsOf(all...))
	for i, kind := range all {
		for _, alg := range append(algorithms(), "Ed25519", "HS384", "HS512") {
			fits := alg == kind.alg || alg == "Ed25519" && kind.alg == "EdDSA"
			check(t, verifier, map[bool]string{true: accepted, false: refused}[fits], kind.headed(`{"alg":"`+alg+`"}`))
		}
		if kind.secret != nil {
			continue
		}
		check(t, verifier, badSignature, others[i].token(`{}`))
		for alg, message := range map[string]string{"HS256": badSignature, "HS384": badAlgorithm, "HS512": badAlgorithm} {
			check(t, verifier, message, hmacKind(alg, []byte(publicPEM(t, kind.key.Public))).token(`{}`))
		}
	}
}

// TestKidChoosesKey checks that a token with a kid is verified only with the key that has it, or with one
// without; and that a kid is required if each key of the algorithm has one.
func TestKidChoosesKey(t *testing.T) {
	t.Parallel()
	a, b, unnamed := ecKind(t, "a"), ecKind(t, "b"), ecKind(t, "")
	named, mixed := newVerifier(optionsOf(a, b)), newVerifier(optionsOf(a, b, unnamed))
	for _, test := range []struct {
		verifier *Verifier
		token    string
		message  string
	}{
		{named, a.headed(`{"alg":"own","kid":"a"}`), ""},
		{named, a.headed(`{"alg":"own","kid":"b"}`), badSignature},
		{named, a.headed(`{"alg":"own","kid":"A"}`), badSignature},
		{named, a.headed(`{"alg":"own"}`), "lacks kid"},
		{named, a.headed(`{"alg":"own","kid":7}`), "lacks kid"},
		{named, a.headed(`{"alg":"own","KID":"a"}`), "lacks kid"},
		{mixed, a.headed(`{"alg":"own"}`), ""},
		{mixed, unnamed.headed(`{"alg":"own","kid":"a"}`), ""},
		{mixed, unnamed.headed(`{"alg":"own","kid":"c"}`), ""},
		{mixed, a.headed(`{"alg":"own","kid":"b"}`), badSignature},
	} {
		check(t, test.verifier, test.message, test.token)
	}
}

// TestTrialsAreBounded checks that a token is tried with at most four keys, the likeliest first, and that
// more keys without a kid are an error.
func TestTrialsAreBounded(t *testing.T) {
	t.Parallel()
	var all []kind
	for _, id := range []string{"a", "b", "c", "d", ""} {
		all = append(all, ecKind(t, id))
	}
	verifier := newVerifier(optionsOf(all...))
	for i, message := range []string{accepted, accepted, accepted, refused, accepted} {
		check(t, verifier, message, all[i].token(`{}`))
		check(t, verifier, accepted, all[i].named())
	}
	public := optionsOf(ecKind(t, ""), ecKind(t, ""), ecKind(t, ""), ecKind(t, ""), ecKind(t, "")).Keys
	secrets := slices.Repeat([]Secret{hs256.secret}, 5)
	for _, o := range []Options{{Keys: public}, {Secrets: secrets}} {
		if _, err := New(o); err == nil || !strings.Contains(err.Error(), "at most 4") {
			t.Errorf("5 keys without a kid: %v", err)
		}
	}
	newVerifier(Options{Keys: public[1:], Secrets: secrets[1:]})
}

// TestTrialsAreOfAllSources checks that no key is silently never tried: own keys and those of the issuer count
// together, by each algorithm that they verify. Keys with a kid need no trial of others.
func TestTrialsAreOfAllSources(t *testing.T) {
	t.Parallel()
	key := func(id, alg string) kind {
		private := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
		return kind{alg: cmp.Or(alg, "RS512"), key: Key{ID: id, Alg: alg, Public: private.Public()}, signer: private}
	}
	any3 := []kind{key("", ""), key("", ""), key("", "")}
	only512, only256 := key("", "RS512"), key("", "RS256")
	issued, named := key("", ""), key("issued", "")
	for name, test := range map[string]struct {
		own, issued []kind
		fits        bool
	}{
		"three, one for RS256, and one for RS512": {append(slices.Clone(any3), only512, only256), nil, true},
		"three, two for RS512":                    {append(slices.Clone(any3), only512, key("", "RS512")), nil, false},
		"three and one of the issuer":             {any3, []kind{issued}, true},
		"four and one of the issuer":              {append(slices.Clone(any3), only512), []kind{issued}, false},
		"four and a named one of the issuer":      {append(slices.Clone(any3), only512), []kind{named}, true},
		"five of one name":                        {nil, slices.Repeat([]kind{named}, 5), false},
	} {
		site, verifier, _ := issuerOf(t)
		site.publishes(t, test.issued...)
		err := verifier.SetKeys(nil, optionsOf(test.own...).Keys)
		if err == nil {
			err = verifier.Start(t.Context())
		}
		if (err == nil) != test.fits || err != nil && !strings.Contains(err.Error(), "tried with at most 4") {
			t.Errorf("%s: %v, want it to fit: %t", name, err, test.fits)
		}
		for _, kind := range slices.Concat(test.own, test.issued) {
			if test.fits {
				check(t, verifier, accepted, kind.named())
			}
		}
	}
	site, verifier, _ := issuerOf(t, issued)
	if err := verifier.SetKeys(nil, optionsOf(append(slices.Clone(any3), only512)...).Keys); err == nil {
		t.Error("the fifth key is set")
	}
	setKeys(t, verifier, any3...)
	site.publishes(t, issued, only512)
	if err := verifier.Fetch(t.Context()); err == nil {
		t.Error("the fifth key is fetched")
	}
	check(t, verifier, accepted, issued.token(`{}`), any3[2].token(`{}`))
	check(t, verifier, refused, only512.token(`{}`))
}

// TestRotation checks that a token is rejected, even from the cache, as soon as its key is
// removed. Setting the same keys again keeps the cache.
func TestRotation(t *testing.T) {
	t.Parallel()
	fresh := ecKind(t, "")
	second := fresh.token(`{}`)
	for _, old := range kinds(t) {
		first, verifier := old.token(`{}`), newVerifier(optionsOf(old))
		check(t, verifier, accepted, first)
		check(t, verifier, refused, second)
		setKeys(t, verifier, fresh, old)
		check(t, verifier, accepted, first, second)
		before := verifier.trusted.Load()
		setKeys(t, verifier, fresh, old)
		if verifier.trusted.Load() != before {
			t.Error("the cache is emptied by the same keys")
		}
		setKeys(t, verifier, fresh)
		check(t, verifier, refused, first)
		check(t, verifier, accepted, second)
		setKeys(t, verifier)
		check(t, verifier, refused, first, second)
	}
}

// TestVerifiedTokenIsCheap checks that verifying a cached token needs no allocation, for any
// kind of key.
//
//nolint:paralleltest // it counts allocations
func TestVerifiedTokenIsCheap(t *testing.T) {
	for _, kind := range kinds(t) {
		verifier, token := newVerifier(optionsOf(kind)), kind.token(`{"exp":99999999999}`)
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

// TestUnfitKeys checks the limits of keys: of an RSA modulus and its exponent, and Ed25519 keys of low order,
// which verify signatures that anybody can make.
func TestUnfitKeys(t *testing.T) {
	t.Parallel()
	modulus := func(bits int) *big.Int { return new(big.Int).SetBit(big.NewInt(1), bits-1, 1) }
	identity := append([]byte{1}, make([]byte, 31)...)
	forged := append(slices.Clone(identity), make([]byte, 32)...)
	if !ed25519.Verify(identity, []byte("anything"), forged) {
		t.Error("the forged signature is not valid")
	}
	negative := slices.Clone(identity)
	negative[31] |= 0x80
	eight := must.Get(hex.DecodeString("26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"))(t)
	for _, test := range []struct {
		public crypto.PublicKey
		fits   bool
	}{
		{&rsa.PublicKey{N: modulus(2047), E: 65537}, false},
		{&rsa.PublicKey{N: modulus(2048), E: 65537}, true},
		{&rsa.PublicKey{N: modulus(4096), E: 3}, true},
		{&rsa.PublicKey{N: modulus(4097), E: 65537}, false},
		{&rsa.PublicKey{N: modulus(2048), E: 1}, false},
		{&rsa.PublicKey{N: modulus(2048), E: 4}, false},
		{&rsa.PublicKey{N: modulus(2048), E: 65539}, false},
		{&rsa.PublicKey{N: new(big.Int).SetBit(modulus(2048), 0, 0), E: 65537}, false},
		{ed25519.PublicKey(identity), false},
		{ed25519.PublicKey(negative), false},
		{ed25519.PublicKey(make([]byte, 32)), false},
		{ed25519.PublicKey(eight), false},
		{ed25519.PublicKey(identity[:31]), false},
		{nil, false},
	} {
		if _, err := New(Options{Keys: []Key{{Public: test.public}}}); (err == nil) != test.fits || !test.fits && !errors.Is(err, errUnfitKey) {
			t.Errorf("%.60v: %v, want it to fit: %t", test.public, err, test.fits)
		}
	}
}
