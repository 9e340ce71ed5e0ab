// Package certtest makes keys and certificates for tests.
package certtest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"plantstore/internal/must"
)

// validity is the lifetime of certificates.
const validity = 24 * time.Hour

// An Authority issues certificates, which are valid for clients that trust it.
type Authority struct {
	// File holds the certificate of the authority, as PEM.
	File string

	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// New returns a new authority, which exists until the end of the test.
func New(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t, File: filepath.Join(t.TempDir(), "ca.pem"), key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the tests"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key))(t)
	a.cert = must.Get(x509.ParseCertificate(der))(t)
	write(t, a.File, "CERTIFICATE", der)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	return must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
}

// Keys returns a new private key of each type and curve that may sign tokens: RSA, Ed25519, P-256, P-384, P-521.
func Keys(t testing.TB) []crypto.Signer {
	t.Helper()
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	keys := []crypto.Signer{must.Get(rsa.GenerateKey(rand.Reader, 2048))(t), edwards}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		keys = append(keys, must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t))
	}
	return keys
}

// PrivatePEM returns a private key as PEM.
func PrivatePEM(t testing.TB, key crypto.Signer) string {
	t.Helper()
	return PEM("PRIVATE KEY", must.Get(x509.MarshalPKCS8PrivateKey(key))(t))
}

// PEM returns a PEM block.
func PEM(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

// Issue writes a certificate of a server or client for localhost, 127.0.0.1, [::1] and the addresses, valid for
// a day until expires, and its key to the files cert.pem and key.pem in dir. It
// returns their paths.
func (a *Authority) Issue(dir string, expires time.Time, addresses ...net.IP) (cert, key string) {
	a.t.Helper()
	private := newKey(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "localhost"},
		NotBefore: expires.Add(-validity), NotAfter: expires,
		DNSNames: []string{"localhost"}, IPAddresses: append([]net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}, addresses...),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key))(a.t)
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	write(a.t, cert, "CERTIFICATE", der)
	must.Do(a.t, os.WriteFile(key, []byte(PrivatePEM(a.t, private)), 0o600))
	return cert, key
}

func write(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(PEM(kind, der)), 0o600))
}

// Server returns the TLS configuration of a server with a new certificate of a.
func (a *Authority) Server() *tls.Config {
	a.t.Helper()
	certificate := must.Get(tls.LoadX509KeyPair(a.Issue(a.t.TempDir(), time.Now().Add(time.Hour))))(a.t)
	return &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
}

// Client returns the TLS configuration of a client that trusts a and offers the protocols.
func (a *Authority) Client(protocols ...string) *tls.Config {
	roots := x509.NewCertPool()
	roots.AddCert(a.cert)
	return &tls.Config{RootCAs: roots, NextProtos: protocols, MinVersion: tls.VersionTLS12}
}
