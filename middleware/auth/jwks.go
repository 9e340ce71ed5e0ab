package auth

import (
	"errors"
	"fmt"
	"slices"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// parseJSON returns the keys of a JWK Set that verify signatures, or of a single JWK. Other entries of a
// set are ignored (RFC 7517, section 5) for the reasons returned. A set with a private or symmetric key is
// an error.
func parseJSON(text []byte) (keys []Key, ignored []error, err error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"` // decoded one by one, so that one that is not valid spoils no other
		KTY  jsontext.Value   `json:"kty"`
	}
	lenient := json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)) // for now
	switch err := json.Unmarshal(text, &set, lenient); {
	case err == nil && set.Keys == nil && set.KTY != nil:
		key, err := parseJWK(text)
		return []Key{key}, nil, err
	case err != nil || set.Keys == nil:
		return nil, nil, errors.New(`it is not a JWK Set: JSON such as {"keys": [...]} (RFC 7517, section 5)`)
	}
	for i, jwk := range set.Keys {
		key, err := parseJWK(jwk)
		if err != nil {
			err = fmt.Errorf("key %d of the set: %w", i+1, err)
		}
		switch {
		case errors.Is(err, errPrivate):
			return nil, nil, err
		case err != nil:
			ignored = append(ignored, err)
		default:
			keys = append(keys, key)
		}
	}
	return keys, ignored, nil
}

// errPrivate is returned for a private or symmetric key.
var errPrivate = errors.New("it is a private key or a secret (kty oct), and whoever can read it could sign tokens; publish public keys only")

// parseJWK returns the key in a JWK (RFC 7517, section 4). Certificates and their URLs are
// ignored.
func parseJWK(text jsontext.Value) (Key, error) {
	var jwk jwkset.JWKMarshal
	if err := json.Unmarshal(text, &jwk); err != nil {
		return Key{}, fmt.Errorf("%w: it is not a JWK: a field is there twice or of the wrong type", errUnfitKey)
	}
	switch {
	case jwk.KTY == jwkset.KtyOct || jwk.K != "" || jwk.D != "" || jwk.P != "" || jwk.Q != "":
		return Key{}, errPrivate
	case jwk.USE != "" && jwk.USE != jwkset.UseSig:
		return Key{}, fmt.Errorf("%w: its use is %q, not sig", errUnfitKey, jwk.USE)
	case jwk.KEYOPS != nil && !slices.Contains(jwk.KEYOPS, jwkset.KeyOpsVerify):
		return Key{}, fmt.Errorf("%w: verify is not among its key_ops", errUnfitKey)
	}
	bare := jwkset.JWKMarshal{KTY: jwk.KTY, CRV: jwk.CRV, X: jwk.X, Y: jwk.Y, N: jwk.N, E: jwk.E}
	parsed, err := jwkset.NewJWKFromMarshal(bare, jwkset.JWKMarshalOptions{}, jwkset.JWKValidateOptions{})
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", errUnfitKey, err)
	}
	alg := jwk.ALG.String()
	if alg == ed25519Alg {
		alg = "EdDSA"
	}
	key := Key{ID: jwk.KID, Alg: alg, Public: parsed.Key()}
	_, err = key.Algorithms()
	return key, err
}
