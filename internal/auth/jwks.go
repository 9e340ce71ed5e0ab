package auth

import (
	"errors"
	"fmt"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// errJWKSet is about what is no JWK Set.
var errJWKSet = errors.New(`it is no JWK Set: JSON such as {"keys": [...]} (RFC 7517, section 5)`)

// parseJWKSet returns the keys of a JWK Set that verify signatures. Those that do
// not fit, or that nobody knows, are left out, for the reasons returned; a private or
// symmetric key makes the whole set suspect. A set without any key to use is an error.
func parseJWKSet(text []byte) (keys []Key, left []error, err error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil || set.Keys == nil {
		return nil, nil, errJWKSet
	}
	if err := checkCount(len(set.Keys)); err != nil {
		return nil, nil, err
	}
	for i, member := range set.Keys {
		key, err := parseJWK(member)
		switch {
		case errors.Is(err, errPrivate), errors.Is(err, errSymmetric):
			return nil, nil, fmt.Errorf("key %d of the set: %w", i+1, err)
		case err != nil:
			left = append(left, fmt.Errorf("key %d of the set: %w", i+1, err))
		default:
			keys = append(keys, key)
		}
	}
	switch {
	case len(set.Keys) == 0:
		return nil, nil, errors.New("the set is empty")
	case keys == nil:
		return nil, nil, fmt.Errorf("no key of the set can be used; %w", left[0])
	}
	return keys, left, nil
}

// errSymmetric is about a key that would let everybody who verifies tokens sign them.
var errSymmetric = errors.New("it is a secret (kty oct), and whoever can read the set could sign tokens")

// parseJWK returns the key that a JWK is (RFC 7517, section 4).
func parseJWK(text jsontext.Value) (Key, error) {
	var jwk jwkset.JWKMarshal
	if err := json.Unmarshal(text, &jwk); err != nil {
		return Key{}, fmt.Errorf("%w: it is no JWK", ErrUnfitKey)
	}
	switch {
	case jwk.KTY == jwkset.KtyOct || jwk.K != "":
		return Key{}, errSymmetric
	case jwk.D != "" || jwk.P != "" || jwk.Q != "":
		return Key{}, errPrivate
	case jwk.USE != "" && jwk.USE != jwkset.UseSig:
		return Key{}, fmt.Errorf("%w: its use is %q, not sig", ErrUnfitKey, jwk.USE)
	case jwk.KEYOPS != nil && !slices.Contains(jwk.KEYOPS, jwkset.KeyOpsVerify):
		return Key{}, fmt.Errorf("%w: verify is not among its key_ops", ErrUnfitKey)
	case jwk.KTY == jwkset.KtyEC && !slices.Contains([]jwkset.CRV{jwkset.CrvP256, jwkset.CrvP384, jwkset.CrvP521}, jwk.CRV):
		return Key{}, errCurve
	}
	// What else it says, of certificates for one, is not looked at, nor fetched.
	bare := jwkset.JWKMarshal{KTY: jwk.KTY, CRV: jwk.CRV, X: jwk.X, Y: jwk.Y, N: jwk.N, E: jwk.E}
	parsed, err := jwkset.NewJWKFromMarshal(bare, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrUnfitKey, err)
	}
	return newPublicKey(jwk.KID, jwk.ALG.String(), parsed.Key())
}
