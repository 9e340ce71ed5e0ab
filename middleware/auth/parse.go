package auth

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// ParseKeys returns the keys in a text: PEM blocks PUBLIC KEY (SubjectPublicKeyInfo) or RSA PUBLIC
// KEY (PKCS #1), or a JWK Set or a JWK (RFC 7517). In PEM, a key that cannot be used is an error, as
// is such a JWK. In a JWK Set they are ignored (RFC 7517, section 5), for the reasons in ignored. In
// all, a private or symmetric key is an error, as is a text without any key that can be used.
func ParseKeys(text []byte) (keys []Key, ignored []error, err error) {
	if !bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		keys, err = parsePEM(text)
		return keys, nil, err
	}
	keys, ignored, err = parseJSON(text)
	switch {
	case err != nil:
		return nil, nil, err
	case keys == nil:
		return nil, nil, fmt.Errorf("no key of the set can be used: %v", ignored)
	}
	return keys, ignored, nil
}

func parsePEM(text []byte) (keys []Key, err error) {
	begins := bytes.Count(text, []byte("-----BEGIN "))
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		public, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		keys = append(keys, Key{Public: public})
	}
	switch {
	case len(keys) < begins: // pem.Decode skips unreadable blocks
		return nil, fmt.Errorf("it holds a PEM block that is corrupt, indented or commented out: %d begin, %d can be read", begins, len(keys))
	case keys == nil:
		return nil, errors.New("it holds neither a PEM block PUBLIC KEY nor a JWK Set")
	}
	return keys, nil
}

// parseBlock returns the public key in a PEM block, if it can be used.
func parseBlock(block *pem.Block) (key crypto.PublicKey, err error) {
	switch {
	case block.Type == "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errors.New("it holds a private key, and the server needs the public one only: openssl pkey -in FILE -pubout")
	case block.Type == "CERTIFICATE":
		return nil, errors.New("it holds a certificate; take the key out of it: openssl x509 -in FILE -noout -pubkey")
	default:
		return nil, fmt.Errorf("it holds a PEM block %q instead of a public key", block.Type)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errUnfitKey, err)
	}
	_, err = Key{Public: key}.Algorithms()
	return key, err
}

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
