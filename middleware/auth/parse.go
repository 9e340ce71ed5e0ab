package auth

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// ParseKeys returns the keys in a text: PEM blocks PUBLIC KEY (SubjectPublicKeyInfo) or RSA PUBLIC
// KEY (PKCS #1), or a JWK Set or a JWK (RFC 7517). In PEM, a key that cannot be used is an error, as
// is such a JWK. In a JWK Set they are ignored (RFC 7517, section 5), for the reasons in ignored. In
// all, a private or symmetric key is an error, as is a text without any key that can be used.
func ParseKeys(text []byte) (keys []Key, ignored []error, err error) {
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		keys, ignored, err = parseJSON(text)
		if err == nil && keys == nil {
			err = fmt.Errorf("no key of the set can be used: %v", ignored)
		}
	} else {
		keys, err = parsePEM(text)
	}
	if err != nil {
		return nil, nil, err
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
