package listen

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// startPebble starts pebble, the ACME server of Let's Encrypt for tests, which refuses some requests on
// purpose and resolves all domains to the address host. The certificate of its directory, which is at the
// returned URL, is issued by authority; the certificates that it issues itself have the roots.
func startPebble(t *testing.T, authority *certtest.Authority, host string) (p *process.Process, directory string, roots *x509.CertPool) {
	t.Helper()
	const programs = "github.com/letsencrypt/pebble/v2/cmd/pebble"
	dir, address := t.TempDir(), process.Address()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", dir, programs, programs+"-challtestsrv")
	build.Dir = filepath.Join(tools.Project(t), "e2e", "pebble")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build pebble: %v\n%s", err, out)
	}
	names, listen, management := process.Port(host, 8053), process.Port(address, 14000), process.Port(address, 15000)
	process.Start(t, dir, exec.CommandContext(context.Background(), filepath.Join(dir, "pebble-challtestsrv"), "-dnsserver", names,
		"-defaultIPv4", host, "-defaultIPv6", "", "-management", process.Port(host, 8055), "-http01", "", "-https01", "", "-tlsalpn01", "", "-doh", ""))
	process.AwaitPort(t, names)
	cert, key := authority.Issue(dir, time.Now().Add(time.Hour), net.ParseIP(address))
	config := must.Get(json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": listen, "managementListenAddress": management,
		"certificate": cert, "privateKey": key, "httpPort": 80, "tlsPort": 443, "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]int{"authz": 1, "order": 1},
	}}))(t)
	file := filepath.Join(dir, "config.json")
	must.Do(t, os.WriteFile(file, config, 0o600))
	cmd := exec.CommandContext(context.Background(), filepath.Join(dir, "pebble"), "-config", file, "-dnsserver", names)
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	p = process.Start(t, dir, cmd)
	process.AwaitPort(t, listen)
	process.AwaitPort(t, management)
	client := plantstore.NewTLSClient(t, authority.Client())
	root := must.Get(plantstore.Do(t.Context(), client, http.MethodGet, "https://"+management+"/roots/0", ""))(t)
	roots = x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(root.Body)) {
		t.Fatalf("no certificate in %q", root.Body)
	}
	return p, "https://" + listen + "/dir", roots
}

// TestACME checks that the server obtains a certificate from a real authority, by a challenge on
// port 443 itself, and uses it again after a restart without the authority.
func TestACME(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "listen on port 443")
	authority, host := certtest.New(t), process.Address()
	pebble, directory, roots := startPebble(t, authority, host)
	o := plantstore.Options{Dir: t.TempDir(), Env: []string{
		"ADDR=" + host + ":443", "ACME_DOMAINS=plants.example.com,www.plants.example.com", "ACME_DIRECTORY=" + directory,
		"SSL_CERT_FILE=" + authority.File,
	}}
	server := plantstore.Start(t, o)
	if server.BaseURL != "https://plants.example.com" {
		t.Errorf("the base URL is %s", server.BaseURL)
	}
	plantstore.Await(t, "the certificates are obtained before a client needs them", func() bool {
		return server.Metrics()["plantstore_certificate_expiry_timestamp_seconds"] > 0
	})
	createAt := func(domain, id string) {
		t.Helper()
		config := &tls.Config{RootCAs: roots, ServerName: domain, MinVersion: tls.VersionTLS12}
		create(t, newClient(t, config, "tcp", host+":443"), server, id)
	}
	createAt("plants.example.com", "1")
	createAt("www.plants.example.com", "2")
	if info, err := os.Stat(filepath.Join(server.Dir, "data", "acme")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the directory of the certificates: %v, %v, want access for its owner only", info, err)
	}
	server.Stop()

	pebble.Kill()
	server = plantstore.Start(t, o)
	createAt("plants.example.com", "3")
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
