package cli_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"

	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// writeKeyPair writes a new private key to NAME.pem and its public key to NAME.pub.
func writeKeyPair(t *testing.T, name string) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	writeFile(t, name+".pem", certtest.PrivatePEM(t, key))
	public := must.Get(x509.MarshalPKIXPublicKey(key.Public()))(t)
	writeFile(t, name+".pub", certtest.PEM("PUBLIC KEY", public))
}

// ed25519Set writes a new Ed25519 key to NAME.pem, and returns a JWK Set with its public key,
// with that kid.
func ed25519Set(t *testing.T, name, kid string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	writeFile(t, name+".pem", certtest.PrivatePEM(t, private))
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, kid, base64.RawURLEncoding.EncodeToString(public))
}

// accepts reports whether a server accepts a token.
func accepts(t *testing.T, base, token string) bool {
	t.Helper()
	status, _ := post(t, base, token, fmt.Sprintf(`{"id":%d,"name":"x"}`, lastID.Add(1)))
	return status == http.StatusOK
}

var lastID atomic.Int64
