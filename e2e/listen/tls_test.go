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
// refused, and counted at the admin listener, which has no TLS. The certificate of the running server is
// replaced as Kubernetes does, by a symbolic link, and reloaded by SIGHUP; its expiry is a metric.
func TestTLS(t *testing.T) {
	t.Parallel()
	authority, dir, now := certtest.New(t), t.TempDir(), time.Now()
	current := filepath.Join(dir, "current")
	issue := func(name string, expires time.Time) {
		t.Helper()
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		authority.Issue(filepath.Join(dir, name), expires)
		must.Do(t, os.Symlink(name, current+".new"))
		must.Do(t, os.Rename(current+".new", current))
	}
	issue("first", now.Add(time.Hour))
	server := plantstore.Start(t, plantstore.Options{Env: []string{"TLS_CERT_FILE=" + current + "/cert.pem", "TLS_KEY_FILE=" + current + "/key.pem"}})
	r := must.Get(plantstore.Dial(t, server.BaseURL).Do(plantstore.Create("", "{}")))(t)
	if r.Code != http.StatusBadRequest || !strings.Contains(r.Message, "https://") {
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

	wantExpiry := func(expires time.Time) {
		t.Helper()
		if got := server.Metrics()["plantstore_certificate_expiry_timestamp_seconds"]; got != float64(expires.Unix()) {
			t.Errorf("the metric of the expiry is %v, want %d", got, expires.Unix())
		}
	}
	serial := func() string {
		t.Helper()
		dialer := tls.Dialer{Config: authority.Client(), NetDialer: &net.Dialer{Timeout: plantstore.Patience}}
		conn := must.Get(dialer.DialContext(t.Context(), "tcp", strings.TrimPrefix(server.BaseURL, "https://")))(t)
		defer func() { _ = conn.Close() }()
		return conn.(*tls.Conn).ConnectionState().PeerCertificates[0].SerialNumber.String()
	}
	wantExpiry(now.Add(time.Hour))
	first := serial()
	issue("second", now.Add(2*time.Hour))
	server.HangUp()
	plantstore.Await(t, "the second certificate is shown", func() bool { return serial() != first })
	wantExpiry(now.Add(2 * time.Hour))
}
