package listen

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// startTLS starts a server with a certificate of authority in the directory dir.
func startTLS(t *testing.T, authority *certtest.Authority, dir string) *plantstore.Server {
	t.Helper()
	cert, key := authority.Issue(dir, time.Now().Add(time.Hour))
	return plantstore.Start(t, plantstore.Options{
		Dir: t.TempDir(), Env: []string{"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key},
	})
}

// host returns the host and port of a server.
func host(t *testing.T, server *plantstore.Server) string {
	t.Helper()
	u, err := url.Parse(server.BaseURL)
	if err != nil || u.Scheme != "https" {
		t.Fatalf("base URL %q, %v, want https", server.BaseURL, err)
	}
	return u.Host
}

// TestConformanceOverTLS checks that the contract holds over TLS.
func TestConformanceOverTLS(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	server := startTLS(t, authority, t.TempDir())
	conform(t, server, "--url", server.BaseURL, "--ca-file", authority.File)
}

// TestCurl checks the server with curl, another implementation of TLS and HTTP.
func TestCurl(t *testing.T) {
	t.Parallel()
	curl := tools.Require(t, "curl")
	authority := certtest.New(t)
	server := startTLS(t, authority, t.TempDir())
	plain := "http" + strings.TrimPrefix(server.BaseURL, "https")
	tests := map[string]struct {
		args []string
		want []string
	}{
		"HTTP/2 is not offered":    {[]string{"--http2", server.BaseURL + "/openapi.json"}, []string{"HTTP/1.1 200", `"openapi"`}},
		"HTTP/1.1":                 {[]string{"--http1.1", server.BaseURL + "/nowhere"}, []string{"HTTP/1.1 400", `"error":404`}},
		"HTTP/1.0":                 {[]string{"--http1.0", server.BaseURL + "/nowhere"}, []string{"HTTP/1.0 400", `"error":404`}},
		"plain HTTP to a TLS port": {[]string{"--data", "{}", plain + "/plants"}, []string{"HTTP/1.1 400", "application/json", `"error":400`, "https://"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := append([]string{"--silent", "--show-error", "--include", "--cacert", authority.File}, test.args...)
			_, out := plantstore.Finish(t, exec.CommandContext(t.Context(), curl, args...))
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("the output of curl %q, want %q in it:\n%s", args, want, out)
				}
			}
		})
	}
}

// serial returns the serial number of the certificate that a server presents.
func serial(t *testing.T, address string, config *tls.Config) string {
	t.Helper()
	conn := must.Get((&tls.Dialer{Config: config, NetDialer: &net.Dialer{Timeout: plantstore.Patience}}).DialContext(t.Context(), "tcp", address))(t)
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestCertificateIsReplaced replaces the certificate of a running server as certbot does (a
// symbolic link for each file) and as Kubernetes does (one for their directory), and reloads it by
// SIGHUP. A broken key is logged, and the previous certificate stays in use. The expiry of the
// certificate in use is a metric.
func TestCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	authority, dir, now := certtest.New(t), t.TempDir(), time.Now()
	generation := func(name string, hours int) (key string) {
		t.Helper()
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		_, key = authority.Issue(filepath.Join(dir, name), now.Add(time.Duration(hours)*time.Hour))
		relink(t, name, filepath.Join(dir, "current"))
		return key
	}
	generation("first", 1)
	server := plantstore.Start(t, plantstore.Options{Dir: t.TempDir(), Env: []string{
		"TLS_CERT_FILE=" + filepath.Join(dir, "current", "cert.pem"), "TLS_KEY_FILE=" + filepath.Join(dir, "current", "key.pem"),
	}})
	wantExpiry := func(hours int) {
		t.Helper()
		got, want := server.Metrics()["plantstore_certificate_expiry_timestamp_seconds"], now.Add(time.Duration(hours)*time.Hour).Unix()
		if got != float64(want) {
			t.Errorf("the metric of the expiry is %v, want %d", got, want)
		}
	}
	wantExpiry(1)
	address := host(t, server)
	first := serial(t, address, authority.Client())
	generation("second", 2)
	server.HangUp()
	plantstore.Await(t, "the second certificate is shown", func() bool { return serial(t, address, authority.Client()) != first })
	second := serial(t, address, authority.Client())
	wantExpiry(2)

	must.Do(t, os.WriteFile(generation("broken", 3), []byte("no key"), 0o600))
	server.HangUp()
	server.AwaitLog("reload failed")
	server.AwaitLog("failed to find any PEM data in key input")
	if last := serial(t, address, authority.Client()); last != second {
		t.Errorf("serial %s, want still %s", last, second)
	}
	wantExpiry(2)
}

// relink replaces a symbolic link atomically.
func relink(t *testing.T, target, link string) {
	t.Helper()
	must.Do(t, os.Symlink(target, link+".new"))
	must.Do(t, os.Rename(link+".new", link))
}

// TestAdminNextToTLS checks that the admin listener uses plain HTTP even with TLS, and counts
// refused requests.
func TestAdminNextToTLS(t *testing.T) {
	t.Parallel()
	server := startTLS(t, certtest.New(t), t.TempDir())
	if r := must.Get(plantstore.Dial(t, server.BaseURL).Do(plantstore.Create("", "{}")))(t); r.Status != http.StatusBadRequest {
		t.Errorf("plain HTTP to the TLS port: %d %s", r.Status, r.Body)
	}
	plantstore.Await(t, "the refusal is counted", func() bool {
		return server.Metrics()[`plantstore_requests_total{outcome="refused",error="400"}`] == 1
	})
}
