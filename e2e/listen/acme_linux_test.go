package listen

import (
	"os"
	"path/filepath"
	"strings"
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
	await(t, "the certificates are obtained before a client needs them", func() bool {
		return strings.Contains(newClient(t, nil, "", "").get(t, server.AdminURL+"/metrics"), "\nplantstore_certificate_expiry_timestamp_seconds ")
	})
	plants, www := newClient(t, ca.Client("plants.example.com"), "tcp", host+":443"), newClient(t, ca.Client("www.plants.example.com"), "tcp", host+":443")
	for id, client := range map[string]*client{"1": plants, "2": www} {
		if version, status, body := client.create(t, server, server.BaseURL, `{"id":`+id+`,"name":"fern"}`); version != "HTTP/1.1" || status != 200 {
			t.Errorf("%s %d %s", version, status, body)
		}
	}
	if info, err := os.Stat(filepath.Join(server.Dir, "data", "acme")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the certificates: %v, %v, want access for its owner only", info, err)
	}
	server.Stop()

	client := ca.Client("plants.example.com")
	ca.Kill()
	again := plantstore.Start(t, o)
	if _, status, body := newClient(t, client, "tcp", host+":443").create(t, again, again.BaseURL, `{"id":3,"name":"fern"}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// TestACMEWithoutAuthority checks that without an authority the server runs, logs why it has no
// certificate, and shuts down at once.
func TestACMEWithoutAuthority(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"ACME_DOMAINS=plants.example.com", "ACME_DIRECTORY=https://127.0.0.1:1/dir",
	}})
	await(t, "an error in the log", func() bool {
		return strings.Contains(server.Log(), "no ACME certificate") && strings.Contains(server.Log(), "port 443")
	})
	server.Stop()
}
