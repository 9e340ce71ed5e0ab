package auth

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// Errors of files with keys.
var (
	// errPrivate is about a key that nobody but who signs tokens should have.
	errPrivate = errors.New("it holds a private key, and the server needs the public one only: " +
		"openssl pkey -in FILE -pubout")
	errTooLong = fmt.Errorf("it has more than %d bytes", maxKeyFile)
	errNoKey   = errors.New("it holds neither a PEM block PUBLIC KEY nor a JWK Set")
)

// maxKeyFile bounds a file of keys, in bytes, and the answer of an issuer.
const maxKeyFile = 1 << 20

// maxKeys bounds the keys of one file or issuer: a token without a kid is tried
// with each of them.
const maxKeys = 64

// ReadPublicKeys returns the keys in a file: PEM blocks PUBLIC KEY (SubjectPublicKeyInfo)
// or RSA PUBLIC KEY (PKCS #1), or a JWK Set (RFC 7517). In PEM, it refuses
// each key that does not fit, with [ErrUnfitKey]. In a JWK Set such keys are left out, as
// section 5 has it, and left returns why, an error a key. A private or symmetric key is
// refused in both.
func ReadPublicKeys(path string) (keys []Key, left []error, err error) {
	contents, err := readBounded(path)
	if err != nil {
		return nil, nil, err
	}
	if bytes.HasPrefix(bytes.TrimSpace(contents), []byte("{")) {
		keys, left, err = parseJWKSet(contents)
	} else {
		keys, err = parsePublicPEM(contents)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, left, nil
}

// readBounded returns the contents of a file of keys, without the byte order mark that some
// editors put before a text.
func readBounded(path string) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it is only read
	contents, err := readAtMost(file)
	if errors.Is(err, errTooLong) {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return bytes.TrimPrefix(contents, []byte("\ufeff")), err
}

// readAtMost reads all, if that is not too much.
func readAtMost(r io.Reader) ([]byte, error) {
	contents, err := io.ReadAll(io.LimitReader(r, maxKeyFile+1))
	if err == nil && len(contents) > maxKeyFile {
		err = errTooLong
	}
	return contents, err
}

func checkCount(n int) error {
	if n > maxKeys {
		return fmt.Errorf("it has %d keys, at most %d can be used", n, maxKeys)
	}
	return nil
}

func parsePublicPEM(contents []byte) ([]Key, error) {
	var keys []Key
	begun := bytes.Count(contents, []byte("-----BEGIN "))
	for {
		var block *pem.Block
		if block, contents = pem.Decode(contents); block == nil {
			break
		}
		public, err := parsePublicBlock(block)
		if err != nil {
			return nil, err
		}
		key, err := newPublicKey("", "", public)
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	switch {
	case len(keys) < begun: // pem.Decode passes over what it cannot read
		return nil, fmt.Errorf("it holds a PEM block that is damaged, indented or commented out: %d begin, %d can be read", begun, len(keys))
	case keys == nil:
		return nil, errNoKey
	}
	return keys, checkCount(len(keys))
}

func parsePublicBlock(block *pem.Block) (public any, err error) {
	switch {
	case block.Type == "PUBLIC KEY":
		public, err = x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "RSA PUBLIC KEY":
		public, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		return nil, errors.New("it holds a certificate; take the key out of it: openssl x509 -in FILE -noout -pubkey")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"), block.Type == "EC PARAMETERS": // which come before one
		return nil, errPrivate
	default:
		return nil, fmt.Errorf("it holds a PEM block %q, and no PUBLIC KEY", block.Type)
	}
	if err != nil {
		return nil, unreadable(err)
	}
	return public, nil
}
