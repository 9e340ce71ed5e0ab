package listen

import (
	"crypto/tls"
	"net"
	"net/http"
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

// TestTLS checks the rules that TLS could change, since a connection over TLS is read, refused and closed
// in another way. curl, another implementation of TLS, is not offered HTTP/2. A request without TLS is
// refused, and counted at the admin listener, which has no TLS.
func TestTLS(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	server := plantstore.Start(t, plantstore.Options{Env: []string{"TLS_CERT_FILE=" + cert, "TLS_KEY_FILE=" + key}})
	if r := must.Get(plantstore.Dial(t, server.BaseURL).Do(plantstore.Create("", "{}")))(t); r.Code != http.StatusBadRequest || !strings.Contains(r.Message, "https://") {
		t.Errorf("plain HTTP to the TLS port: %d %s", r.Status, r.Body)
	}
	plantstore.Await(t, "the refusal is counted", func() bool {
		return server.Metrics()[`plantstore_requests_total{outcome="refused",error="400"}`] == 1
	})
	curl := exec.CommandContext(t.Context(), tools.Require(t, "curl"), "--silent", "--include", "--http2", "--cacert", authority.File, server.BaseURL+"/nowhere")
	if _, out := plantstore.Finish(t, curl); !strings.HasPrefix(out, "HTTP/1.1 400 ") || !strings.Contains(out, `"error":404`) {
		t.Errorf("the output of curl is\n%s", out)
	}
	for _, rule := range []string{"C1.3", "C2.15", "C2.16"} {
		conform(t, server, "--ca-file", authority.File, "--rule", rule)
	}
}

// TestCertificateIsReplaced replaces the certificate of a running server as certbot does (a
// symbolic link for each file) and as Kubernetes does (one for their directory), and reloads it by
// SIGHUP. A broken key is logged, and the previous certificate stays in use. The expiry of the
// certificate in use is a metric.
func TestCertificateIsReplaced(t *testing.T) {
	t.Parallel()
	authority, dir, now := certtest.New(t), t.TempDir(), time.Now()
	current := filepath.Join(dir, "current")
	generation := func(name string, hours int) (key string) {
		t.Helper()
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		_, key = authority.Issue(filepath.Join(dir, name), now.Add(time.Duration(hours)*time.Hour))
		must.Do(t, os.Symlink(name, current+".new"))
		must.Do(t, os.Rename(current+".new", current))
		return key
	}
	generation("first", 1)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"TLS_CERT_FILE=" + current + "/cert.pem", "TLS_KEY_FILE=" + current + "/key.pem"}})
	serial := func() string {
		t.Helper()
		dialer := tls.Dialer{Config: authority.Client(), NetDialer: &net.Dialer{Timeout: plantstore.Patience}}
		conn := must.Get(dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.BaseURL, "https://")))(t)
		defer func() { _ = conn.Close() }()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	wantExpiry := func(hours int) {
		t.Helper()
		got, want := server.Metrics()["plantstore_certificate_expiry_timestamp_seconds"], now.Add(time.Duration(hours)*time.Hour).Unix()
		if got != float64(want) {
			t.Errorf("the metric of the expiry is %v, want %d", got, want)
		}
	}
	wantExpiry(1)
	first := serial()
	generation("second", 2)
	server.HangUp()
	plantstore.Await(t, "the second certificate is shown", func() bool { return serial() != first })
	second := serial()
	wantExpiry(2)

	must.Do(t, os.WriteFile(generation("broken", 3), []byte("no key"), 0o600))
	server.HangUp()
	server.AwaitLog("reload failed")
	server.AwaitLog("failed to find any PEM data in key input")
	if last := serial(); last != second {
		t.Errorf("serial %s, want still %s", last, second)
	}
	wantExpiry(2)
}
