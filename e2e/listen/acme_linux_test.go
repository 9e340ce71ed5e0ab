package listen

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/pebble"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/internal/certtest"
	"plantstore/internal/testkit"
)

// TestACME checks that the server obtains a certificate from a real authority, by a challenge on
// port 443 itself, and uses it again after a restart without the authority.
func TestACME(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "listen on port 443")
	authority, host := certtest.New(t), process.Address()
	ca := pebble.Start(t, authority, host, 90*24*time.Hour)
	o := plantstore.Options{Dir: t.TempDir(), Env: []string{
		"ADDR=" + host + ":443", "ACME_DOMAINS=plants.example.com,www.plants.example.com", "ACME_DIRECTORY=" + ca.Directory,
		"ACME_EMAIL=me@example.com", "SSL_CERT_FILE=" + authority.File,
	}}
	server := plantstore.Start(t, o)
	if server.BaseURL != "https://plants.example.com" {
		t.Errorf("the base URL is %s", server.BaseURL)
	}
	await(t, "two certificates", func() bool { return strings.Count(server.Log(), "ACME certificate obtained") == 2 })
	plants, www := newClient(t, ca.Client("plants.example.com"), "tcp", host+":443"), newClient(t, ca.Client("www.plants.example.com"), "tcp", host+":443")
	for id, client := range map[string]*client{"1": plants, "2": www} {
		if version, status, body := client.create(t, server, server.BaseURL, `{"id":`+id+`,"name":"fern"}`); version != "HTTP/2.0" || status != 200 {
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

// TestACMERenewal checks that a certificate is renewed while the server runs. If the authority
// is unreachable at the next renewal, this is logged before the certificate expires, and when it
// does; the expired one stays in use, and clients refuse it.
func TestACMERenewal(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "listen on port 443")
	const domain, message = "plants.example.com", "ACME certificate "
	authority, host := certtest.New(t), process.Address()
	ca := pebble.Start(t, authority, host, time.Minute)
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"ADDR=" + host + ":443", "ACME_DOMAINS=" + domain, "ACME_DIRECTORY=" + ca.Directory, "SSL_CERT_FILE=" + authority.File,
	}})
	logged := func(event string) func() bool {
		return func() bool { return strings.Contains(server.Log(), message+event) }
	}
	await(t, "a certificate", logged("obtained"))
	config := ca.Client(domain)
	first := serial(t, host+":443", config)
	await(t, "a renewal", logged("renewed"))
	second := serial(t, host+":443", config)
	if second == first {
		t.Errorf("the server still presents the certificate %s", first)
	}
	ca.Kill()
	await(t, "a log message that it is not renewed", func() bool { // a machine that stalls may log only the last of the two
		return logged("not renewed")() || logged("expired, clients reject it")()
	})
	await(t, "a log message that it has expired", func() bool {
		return logged("expired, clients reject it")() && strings.Contains(server.Log(), "this server must reach the authority")
	})
	if expires := expiry(t, server); expires.IsZero() || expires.After(time.Now()) {
		t.Errorf("the metric has the expiry %v, but the log reports that the certificate has expired", expires)
	}
	if _, err := (&tls.Dialer{Config: config}).DialContext(t.Context(), "tcp", host+":443"); err == nil || !strings.Contains(err.Error(), "expired") {
		t.Errorf("a client fails with %v, want an error about an expired certificate", err)
	}
	config.InsecureSkipVerify = true
	if now := serial(t, host+":443", config); now != second {
		t.Errorf("the server presents the certificate %s, want still %s", now, second)
	}
}

// expiry returns the expiry of the server's certificate, from its metrics.
func expiry(t *testing.T, server *plantstore.Server) time.Time {
	t.Helper()
	text := newClient(t, nil, "", "").get(t, server.AdminURL+"/metrics")
	found := regexp.MustCompile(`(?m)^plantstore_certificate_expiry_timestamp_seconds (\S+)$`).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no such metric in\n%s", text)
	}
	seconds, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Unix(int64(seconds), 0)
}

// TestACMEWithoutAuthority checks that without an authority the server runs, logs why it has no
// certificate, and shuts down at once.
func TestACMEWithoutAuthority(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"ACME_DOMAINS=plants.example.com", "ACME_DIRECTORY=https://127.0.0.1:1/dir",
	}})
	await(t, "an error in the log", func() bool {
		return strings.Contains(server.Log(), "no ACME certificate yet") && strings.Contains(server.Log(), "port 443")
	})
	server.Stop()
}
