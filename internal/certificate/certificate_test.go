package certificate_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/certificate"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
	"plantstore/internal/watchdog"
)

func TestMain(m *testing.M) { watchdog.Main(m) }

// A log collects log output.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns the log since the last call.
func (l *log) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// shown returns the serial number of the certificate that a server would present.
func shown(t *testing.T, files *certificate.Files) string {
	t.Helper()
	current := must.Get(files.TLS().GetCertificate(&tls.ClientHelloInfo{}))(t)
	return current.Leaf.SerialNumber.String()
}

// TestWatch checks that new files are used within a minute. A broken key is logged, and the
// previous certificate stays in use, until the files are intact again.
func TestWatch(t *testing.T) {
	t.Parallel()
	dir, authority, l := t.TempDir(), certtest.New(t), new(log)
	synctest.Test(t, func(t *testing.T) {
		renew := func() (cert, key string) { return authority.Issue(dir, time.Now().Add(time.Hour)) }
		cert, key := renew()
		files := must.Get(certificate.Load(cert, key, slog.New(slog.NewTextHandler(l, nil))))(t)
		ctx, cancel := context.WithCancel(t.Context())
		go files.Watch(ctx)
		pass := func() string {
			time.Sleep(time.Minute)
			synctest.Wait()
			return l.take()
		}
		l.take()
		first := shown(t, files)
		if logged := pass(); shown(t, files) != first || logged != "" {
			t.Errorf("without a change, the log is %q", logged)
		}
		renew()
		logged, second := pass(), shown(t, files)
		if second == first || strings.Count(logged, "certificate loaded") != 1 {
			t.Errorf("the certificate is not replaced, or the log is %q", logged)
		}
		if got, want := files.Expires(), time.Now().Add(59*time.Minute); !got.Equal(want.Truncate(time.Second)) {
			t.Errorf("it expires %v, want %v", got, want)
		}
		renew()
		must.Do(t, os.WriteFile(key, []byte("none"), 0o600))
		if logged := pass(); shown(t, files) != second || !strings.Contains(logged, "level=ERROR") || !strings.Contains(logged, key) {
			t.Errorf("with a broken key another certificate is used, or the log is %q", logged)
		}
		renew()
		if pass(); shown(t, files) == second {
			t.Error("the intact certificate is not used")
		}
		cancel()
		synctest.Wait()
	})
}

// TestLoadWrongFiles checks that an error names the option, and an existing file.
func TestLoadWrongFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := certtest.New(t).Issue(dir, time.Now().Add(time.Hour))
	other, _ := certtest.New(t).Issue(t.TempDir(), time.Now().Add(time.Hour))
	empty := filepath.Join(dir, "empty")
	must.Do(t, os.WriteFile(empty, nil, 0o600))
	for name, test := range map[string]struct{ cert, key, want string }{
		"no certificate":       {cert + "x", key, "cert.pemx: no such file"},
		"no key":               {cert, key + "x", "key.pemx: no such file"},
		"an empty certificate": {empty, key, "TLS_CERT_FILE " + empty + " and TLS_KEY_FILE " + key + ": tls: failed to find any PEM data in certificate input"},
		"an empty key":         {cert, empty, "failed to find any PEM data in key input"},
		"a key for another":    {other, key, "private key does not match public key"},
	} {
		if _, err := certificate.Load(test.cert, test.key, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q in it", name, err, test.want)
		}
	}
}
