package listen

import (
	"crypto/tls"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
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

// TestGoClient checks that Go's own client speaks HTTP/1.1, also if it supports HTTP/2.
func TestGoClient(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	server := startTLS(t, authority, t.TempDir())
	two, one := newClient(t, authority.Client(), "", ""), newClient(t, authority.Client("http/1.1"), "", "")
	if version, status, body := two.create(t, server, server.BaseURL, `{"id":1,"name":"fern"}`); version != "HTTP/1.1" || status != 200 {
		t.Errorf("%s %d %s, want 200 over HTTP/1.1", version, status, body)
	}
	if version, status, body := one.create(t, server, server.BaseURL, `{"id":2,"name":"fern"}`); version != "HTTP/1.1" || status != 200 {
		t.Errorf("%s %d %s, want 200 over HTTP/1.1", version, status, body)
	}
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
			cmd := plantstore.Command(t, t.TempDir(), nil)
			cmd.Path, cmd.Args = curl, append([]string{"curl"}, args...)
			out := output(t, cmd)
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
	conn := must.Get((&tls.Dialer{Config: config, NetDialer: &net.Dialer{Timeout: patience}}).DialContext(t.Context(), "tcp", address))(t)
	defer func() { _ = conn.Close() }()
	return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
}

// TestCertificateIsReplaced replaces the certificate of a running server as certbot does (a
// symbolic link for each file) and as Kubernetes does (one for their directory), and reloads it by
// SIGHUP. A broken key is logged, and the previous certificate stays in use.
func TestCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	authority, dir := certtest.New(t), t.TempDir()
	generation := func(name string) (key string) {
		t.Helper()
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		_, key = authority.Issue(filepath.Join(dir, name), time.Now().Add(time.Hour))
		relink(t, name, filepath.Join(dir, "current"))
		return key
	}
	generation("first")
	server := plantstore.Start(t, plantstore.Options{Dir: t.TempDir(), Env: []string{
		"TLS_CERT_FILE=" + filepath.Join(dir, "current", "cert.pem"), "TLS_KEY_FILE=" + filepath.Join(dir, "current", "key.pem"),
	}})
	address := host(t, server)
	first := serial(t, address, authority.Client())
	generation("second")
	server.HangUp()
	await(t, "the second certificate is shown", func() bool { return serial(t, address, authority.Client()) != first })
	second := serial(t, address, authority.Client())

	must.Do(t, os.WriteFile(generation("broken"), []byte("no key"), 0o600))
	server.HangUp()
	await(t, "the log names the broken key", func() bool {
		return strings.Contains(server.Log(), "reload failed") && strings.Contains(server.Log(), "failed to find any PEM data in key input")
	})
	if now := serial(t, address, authority.Client()); now != second {
		t.Errorf("serial %s, want still %s", now, second)
	}
}

// relink replaces a symbolic link atomically.
func relink(t *testing.T, target, link string) {
	t.Helper()
	must.Do(t, os.Symlink(target, link+".new"))
	must.Do(t, os.Rename(link+".new", link))
}

// TestWrongOptions checks that invalid options for TLS are reported before any file is created.
func TestWrongOptions(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := certtest.New(t).Issue(dir, time.Now().Add(time.Hour))
	tests := map[string]struct {
		env  string
		code int
		want string
	}{
		"no key":              {"TLS_CERT_FILE=" + cert, 2, "TLS_CERT_FILE is given and TLS_KEY_FILE is not"},
		"a missing key":       {"TLS_CERT_FILE=" + cert + " TLS_KEY_FILE=" + key + "x", 2, "TLS_KEY_FILE: no such file"},
		"a file for a socket": {"ADDR=unix:" + cert, 1, "is not a socket"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := t.TempDir()
			cmd := plantstore.Command(t, at, append([]string{"ADDR=127.0.0.1:0"}, strings.Fields(test.env)...), "serve")
			out, _ := cmd.CombinedOutput()
			if code := cmd.ProcessState.ExitCode(); code != test.code || !strings.Contains(string(out), test.want) {
				t.Errorf("exit code %d, want %d; output\n%s\nwant %q", code, test.code, out, test.want)
			}
			if entries, err := os.ReadDir(at); err != nil || len(entries) > 0 {
				t.Errorf("files were created: %v, %v", entries, err)
			}
		})
	}
}

// TestAdminNextToTLS checks that the admin listener uses plain HTTP even with TLS, and counts
// refused requests.
func TestAdminNextToTLS(t *testing.T) {
	t.Parallel()
	server := startTLS(t, certtest.New(t), t.TempDir())
	if ready := newClient(t, nil, "", "").get(t, server.AdminURL+"/readyz"); !strings.Contains(ready, "ready") {
		t.Errorf("/readyz: %s", ready)
	}
	if _, status, body := newClient(t, nil, "", "").create(t, server, "http://"+host(t, server), "{}"); status != 400 {
		t.Errorf("plain HTTP to the TLS port: %d %s", status, body)
	}
	await(t, "the refusal is counted", func() bool {
		metrics := newClient(t, nil, "", "").get(t, server.AdminURL+"/metrics")
		return strings.Contains(metrics, `plantstore_requests_total{outcome="refused",error="400"} 1`)
	})
}
