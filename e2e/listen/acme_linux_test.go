package listen

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"plantstore/e2e/internal/pebble"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
)

// TestACME checks that the server obtains a certificate from a real authority, by a challenge on
// port 443 itself, and uses it again after a restart without the authority.
func TestACME(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "listen on port 443")
	authority, host := certtest.New(t), process.Address()
	ca := pebble.Start(t, authority, host, 90*24*time.Hour)
	o := plantstore.Options{Dir: t.TempDir(), Env: []string{
		"ADDR=" + host + ":443", "ACME_DOMAINS=plants.example.com,www.plants.example.com", "ACME_DIRECTORY=" + ca.Directory,
		"SSL_CERT_FILE=" + authority.File,
	}}
	server := plantstore.Start(t, o)
	if server.BaseURL != "https://plants.example.com" {
		t.Errorf("the base URL is %s", server.BaseURL)
	}
	plantstore.Await(t, "the certificates are obtained before a client needs them", func() bool {
		return server.Metrics()["plantstore_certificate_expiry_timestamp_seconds"] > 0
	})
	plants, www := newClient(t, ca.Client("plants.example.com"), "tcp", host+":443"), newClient(t, ca.Client("www.plants.example.com"), "tcp", host+":443")
	create(t, plants, server, "1")
	create(t, www, server, "2")
	if info, err := os.Stat(filepath.Join(server.Dir, "data", "acme")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the certificates: %v, %v, want access for its owner only", info, err)
	}
	server.Stop()

	client := ca.Client("plants.example.com")
	ca.Kill()
	create(t, newClient(t, client, "tcp", host+":443"), plantstore.Start(t, o), "3")
}

// TestACMEWithoutAuthority checks that without an authority the server runs, logs why it has no
// certificate, and shuts down at once.
func TestACMEWithoutAuthority(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"ACME_DOMAINS=plants.example.com", "ACME_DIRECTORY=https://127.0.0.1:1/dir",
	}})
	server.AwaitLog("no ACME certificate")
	server.AwaitLog("port 443")
	server.Stop()
}
