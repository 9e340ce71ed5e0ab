package auth

import (
	"bytes"
	"crypto"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/MicahParks/jwkset"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/files"
)

// maxKeys is the maximum number of keys of a file or issuer. A token without a kid is
// tried with each of them.
const maxKeys = 64

// ReadPublicKeys returns the keys in a file: PEM blocks PUBLIC KEY (SubjectPublicKeyInfo)
// or RSA PUBLIC KEY (PKCS #1), or a JWK Set or a JWK (RFC 7517). In PEM, an unfit key is an
// error, as is an unfit JWK. In a JWK Set unfit keys are ignored (RFC 7517, section 5), for the
// reasons in ignored. In all, a private or symmetric key is an error, as is a file that
// fails the checks of [files.ReadPublic], and one without any key that can be used.
func ReadPublicKeys(path string) (keys []Key, ignored []error, err error) {
	contents, err := files.ReadPublic(path)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case isJWK(contents):
		keys = make([]Key, 1)
		keys[0], err = parseJWK(jsontext.Value(contents))
	case bytes.HasPrefix(bytes.TrimSpace(contents), []byte("{")):
		keys, ignored, err = parseJWKSet(contents)
		if err == nil && keys == nil {
			err = fmt.Errorf("no key of the set can be used: %v", ignored)
		}
	default:
		keys, err = parsePublicPEM(contents)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, ignored, nil
}

func checkCount(n int) error {
	if n > maxKeys {
		return fmt.Errorf("it has %d keys, at most %d can be used", n, maxKeys)
	}
	return nil
}

func parsePublicPEM(contents []byte) (keys []Key, err error) {
	begins := bytes.Count(contents, []byte("-----BEGIN "))
	for block, rest := pem.Decode(contents); block != nil; block, rest = pem.Decode(rest) {
		public, err := parseBlock(block)
		if err != nil {
			return nil, err
		}
		if _, private := public.(crypto.Signer); private {
			return nil, errors.New("it holds a private key, and the server needs the public one only: openssl pkey -in FILE -pubout")
		}
		key, err := newPublicKey("", "", public)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	switch {
	case len(keys) < begins: // pem.Decode skips unreadable blocks
		return nil, fmt.Errorf("it holds a PEM block that is corrupt, indented or commented out: %d begin, %d can be read", begins, len(keys))
	case keys == nil:
		return nil, errors.New("it holds neither a PEM block PUBLIC KEY nor a JWK Set")
	}
	return keys, checkCount(len(keys))
}

func parseBlock(block *pem.Block) (any, error) {
	key, err := jwkset.LoadX509KeyInfer(block)
	switch {
	case block.Type == "ENCRYPTED PRIVATE KEY", block.Headers["DEK-Info"] != "":
		return nil, errors.New("the key is encrypted; decrypt it first: openssl pkey -in FILE -out OTHER")
	case block.Type == "CERTIFICATE":
		return nil, errors.New("it holds a certificate; take the key out of it: openssl x509 -in FILE -noout -pubkey")
	case errors.Is(err, jwkset.ErrX509Infer):
		return nil, fmt.Errorf("it holds a PEM block %q instead of a key", block.Type)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errUnfitKey, errors.Unwrap(err)) // the outer error has no message of use
	}
	return key, nil
}
