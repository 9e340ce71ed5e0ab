package engines

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
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
)

// An authority issues certificates.
type authority struct {
	t    testing.TB
	file string // for its own certificate
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	a := &authority{t: t, file: filepath.Join(t.TempDir(), "ca.pem"), key: do(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).must(t)}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "the tests"}, IsCA: true, BasicConstraintsValid: true,
		NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.write(a.file, "CERTIFICATE", do(x509.CreateCertificate(rand.Reader, a.cert, a.cert, a.key.Public(), a.key)).must(t))
	return a
}

// issue writes a certificate, which expires after that time, and its key. It returns the same
// two paths for the same name.
func (a *authority) issue(name, address string, expires time.Duration) (cert, key string) {
	a.t.Helper()
	private := do(ecdsa.GenerateKey(elliptic.P256(), rand.Reader)).must(a.t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(expires),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	if address != "" {
		template.IPAddresses = []net.IP{net.ParseIP(address)}
	}
	dir := filepath.Dir(a.file)
	cert, key = filepath.Join(dir, name+".pem"), filepath.Join(dir, name+"-key.pem")
	a.write(cert, "CERTIFICATE", do(x509.CreateCertificate(rand.Reader, template, a.cert, private.Public(), a.key)).must(a.t))
	a.write(key, "PRIVATE KEY", do(x509.MarshalPKCS8PrivateKey(private)).must(a.t))
	return cert, key
}

func (a *authority) write(path, kind string, der []byte) {
	a.t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// config returns the TLS configuration of a client of the tests, with the certificate in
// these files.
func (a *authority) config(cert, key string) *tls.Config {
	a.t.Helper()
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(do(os.ReadFile(a.file)).must(a.t))
	pair := do(tls.LoadX509KeyPair(cert, key)).must(a.t)
	return &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
}
