package listen

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/pebble"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
)

// Certificates come from a real authority, by a challenge on port 443 itself, and
// are there again after a restart, when the authority is gone.
func TestACME(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "listen on port 443")
	authority, host := certtest.New(t), process.Address()
	ca := pebble.Start(t, authority, host)
	o := plantstore.Options{Dir: t.TempDir(), Env: []string{
		"ADDR=" + host + ":443", "ACME_DOMAINS=plants.example.com,www.plants.example.com", "ACME_DIRECTORY=" + ca.Directory,
		"ACME_EMAIL=me@example.com", "SSL_CERT_FILE=" + authority.File,
	}}
	server := plantstore.Start(t, o)
	if server.BaseURL != "https://plants.example.com" {
		t.Errorf("the base URL is %s", server.BaseURL)
	}
	await(t, "two certificates", func() bool { return strings.Count(server.Log(), "the certificate by ACME is there") == 2 })
	plants, www := newClient(t, ca.Client("plants.example.com"), "tcp", host+":443"), newClient(t, ca.Client("www.plants.example.com"), "tcp", host+":443")
	for id, client := range map[string]*client{"1": plants, "2": www} {
		if version, status, body := client.create(t, server, server.BaseURL, `{"id":`+id+`,"name":"fern"}`); version != "HTTP/2.0" || status != 200 {
			t.Errorf("%s %d %s", version, status, body)
		}
	}
	if info, err := os.Stat(filepath.Join(server.Dir, "data", "acme")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the certificates: %v, %v, want it to be its owner's only", info, err)
	}
	server.Stop()

	client := ca.Client("plants.example.com")
	ca.Kill()
	again := plantstore.Start(t, o)
	if _, status, body := newClient(t, client, "tcp", host+":443").create(t, again, again.BaseURL, `{"id":3,"name":"fern"}`); status != 200 {
		t.Errorf("%d %s", status, body)
	}
}

// Without an authority the server runs, and says why it has no certificate; it ends
// at once, too.
func TestACMEWithoutAuthority(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"ACME_DOMAINS=plants.example.com", "ACME_DIRECTORY=https://127.0.0.1:1/dir",
	}})
	await(t, "an error in the log", func() bool {
		return strings.Contains(server.Log(), "there is no certificate by ACME yet") && strings.Contains(server.Log(), "port 443")
	})
	server.Stop()
}
