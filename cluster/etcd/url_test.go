package etcd

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]target{
		"etcd://h":                           {endpoints: []string{"h:2379"}, prefix: "/plants/", timeout: 5 * time.Second},
		"etcd://h/":                          {endpoints: []string{"h:2379"}, prefix: "/plants/", timeout: 5 * time.Second},
		"ETCD://h1:1,h2,h3:3/a/b?timeout=9s": {endpoints: []string{"h1:1", "h2:2379", "h3:3"}, prefix: "/a/b/", timeout: 9 * time.Second},
		"etcd://[::1]:1,[::2]/a/":            {endpoints: []string{"[::1]:1", "[::2]:2379"}, prefix: "/a/", timeout: 5 * time.Second},
		"etcd://me:p%40ss@h/%20?tls=false": {
			endpoints: []string{"h:2379"}, prefix: "/ /", user: "me", password: "p@ss", timeout: 5 * time.Second,
		},
	} {
		got, err := parseURL(url)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(target{})); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", url, err, diff)
		}
	}
}

// TestParseURLRefuses checks that no error contains a password (C4.25).
func TestParseURLRefuses(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"etcd:a/b":                        `"" is not HOST:PORT`,
		"etcd://":                         `"" is not HOST:PORT`,
		"etcd://me:hunter2@/a":            `"" is not HOST:PORT`,
		"etcd://h1,,h2":                   `"" is not HOST:PORT`,
		"etcd://h:x":                      `"h:x" is not HOST:PORT`,
		"etcd://h:99999":                  `"h:99999" is not HOST:PORT`,
		"etcd://me:hunter2%zz@h":          "write etcd://USER:PASSWORD@",
		"etcd://hunter2@h":                "both a user and a password, or neither",
		"etcd://:hunter2@h":               "both a user and a password, or neither",
		"etcd://h?a=hunter2":              `option "a": unknown`,
		"etcd://h?timeout=5s&timeout=6s":  `option "timeout": unknown or given twice`,
		"etcd://h?timeout=1ms":            "must be a duration from 1s to 1m",
		"etcd://h?timeout=5":              "must be a duration from 1s to 1m",
		"etcd://h?tls=maybe":              "must be true or false",
		"etcd://h?ca=nosuch.pem":          "ca: open nosuch.pem",
		"etcd://h?ca=url.go":              "holds no certificate",
		"etcd://h?cert=url.go":            "both cert and key, or neither",
		"etcd://h?cert=url.go&key=url.go": "cert and key: tls: failed to find any PEM data",
		"etcd://h?%zz":                    "is not NAME=VALUE",
	} {
		_, err := parseURL(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want: %s", url, err, want)
		}
	}
}

// TestCertificateIsReloaded checks that the certificate is reloaded for each connection.
func TestCertificateIsReloaded(t *testing.T) {
	t.Parallel()
	cert, key := filepath.Join(t.TempDir(), "cert"), filepath.Join(t.TempDir(), "key")
	writeCertificate(t, cert, key, 1, time.Hour)
	got, err := parseURL("etcd://h?ca=" + cert + "&cert=" + cert + "&key=" + key)
	if err != nil {
		t.Fatal(err)
	}
	for serial := range int64(2) {
		writeCertificate(t, cert, key, 2+serial, time.Hour)
		pair, err := got.tls.GetClientCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		if pair.Leaf.SerialNumber.Int64() != 2+serial {
			t.Errorf("the certificate has the number %v, want %d", pair.Leaf.SerialNumber, 2+serial)
		}
	}
	writeCertificate(t, cert, key, 4, -time.Second)
	if _, err := got.tls.GetClientCertificate(nil); err == nil || !strings.Contains(err.Error(), "expired certificate") {
		t.Errorf("of an expired certificate: %v", err)
	}
}

// writeCertificate writes a certificate that signs itself, and its key.
func writeCertificate(t *testing.T, cert, key string, serial int64, life time.Duration) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial), NotAfter: time.Now().Add(life)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: der},
		key:  {Type: "PRIVATE KEY", Bytes: secret},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
