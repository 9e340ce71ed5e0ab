package cli_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/internal/must"
)

// writeKeyPair writes a new private key to NAME.pem and its public key to NAME.pub.
func writeKeyPair(t *testing.T, name string) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	private := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	public := must.Get(x509.MarshalPKIXPublicKey(key.Public()))(t)
	writeFile(t, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	writeFile(t, name+".pub", string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})))
}

// ed25519Set writes a new Ed25519 key to NAME.pem, and returns a JWK Set with its public key,
// with that kid.
func ed25519Set(t *testing.T, name, kid string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der := must.Get(x509.MarshalPKCS8PrivateKey(private))(t)
	writeFile(t, name+".pem", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})))
	return fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","kid":%q,"x":%q}]}`, kid, base64.RawURLEncoding.EncodeToString(public))
}

// checkCreates sends a plant with each token and checks which are accepted.
func checkCreates(t *testing.T, base string, tokens map[string]bool) {
	t.Helper()
	for token, want := range tokens {
		status, body := post(t, base, token, fmt.Sprintf(`{"id":%d,"name":"x"}`, lastID.Add(1)))
		if (status == http.StatusOK) != want {
			t.Errorf("a token gets %s, want it accepted: %t", body, want)
		}
	}
}

var lastID atomic.Int64

// TestServeWithPublicKeys checks that a server with public keys generates no secret, and the
// error of token has the remedy.
func TestServeWithPublicKeys(t *testing.T) {
	t.Chdir(t.TempDir())
	writeKeyPair(t, "a")
	writeFile(t, "set.json", ed25519Set(t, "b", "the b"))
	writeKeyPair(t, "c")
	environ := []string{"JWT_PUBLIC_KEYS=a.pub, set.json"}
	ready := startServer(t, "plantstore", environ).ready(t)
	if want := "plantstore token --key PRIVATE_KEY.pem --jwt-public-keys 'a.pub, set.json'"; ready.TokenCommand != want {
		t.Errorf("the command for a token is %s, want %s", ready.TokenCommand, want)
	}
	stranger := run(t, environ, "token", "--key", "c.pem")
	if want := "plantstore: JWT_PUBLIC_KEYS does not contain the public key of --key for the algorithm ES256: a server with the same configuration refuses the token\n"; stranger.stderr != want {
		t.Errorf("with an unknown key token prints %q, want %q", stranger.stderr, want)
	}
	named := token(t, environ, "--key", "b.pem")
	if header, err := base64.RawURLEncoding.DecodeString(strings.Split(named, ".")[0]); err != nil ||
		string(header) != `{"alg":"EdDSA","kid":"the b"}` {
		t.Errorf("the header is %s", header)
	}
	checkCreates(t, ready.BaseURL, map[string]bool{
		token(t, environ, "--key", "a.pem"):               true,
		token(t, environ, "--key", "a.pem", "--kid", "x"): true,
		named: true,
		token(t, environ, "--key", "b.pem", "--kid", "other"): false,
		strings.TrimSpace(stranger.stdout):                    false,
		token(t, []string{"JWT_SECRET=" + secret}):            false,
	})
	checkFailure(t, run(t, environ, "token"), 1, "there is no secret to sign with: this server accepts only tokens signed with a private key "+
		"(JWT_PUBLIC_KEYS, JWT_JWKS_URL): run plantstore token --key FILE, or get a token from the issuer")
	checkFailure(t, run(t, nil, "token"), 1, "the server that runs on data/plants.db has no secret next to it, so none was generated: "+
		"if the server accepts only tokens signed with a private key, run plantstore token --key FILE; "+
		"else set JWT_SECRET or JWT_SECRET_FILE as for the server, or restore the secret file if it was removed while the server runs")
	if _, err := os.Stat("data/jwt-secret"); err == nil {
		t.Error("a secret was made")
	}
}

// TestServeHidesQueryOfIssuer checks that a secret in the URL of the issuer's keys is never
// printed, not even in a command.
func TestServeHidesQueryOfIssuer(t *testing.T) {
	t.Chdir(t.TempDir())
	set := ed25519Set(t, "a", "1")
	issuer := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, set) }))
	t.Cleanup(issuer.Close)
	s := startServer(t, "plantstore", []string{"JWT_JWKS_URL=" + issuer.URL + "/k.json?key=hunter2"})
	if want := "plantstore token --key PRIVATE_KEY.pem --jwt-jwks-url " + issuer.URL + "/k.json"; s.ready(t).TokenCommand != want {
		t.Errorf("the command for a token is %s, want %s", s.ready(t).TokenCommand, want)
	}
	if output := s.first + s.log(); strings.Contains(output, "hunter2") {
		t.Errorf("it prints\n%s", output)
	}
}
