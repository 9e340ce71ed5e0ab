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

	"go.uber.org/goleak"

	"plantstore/internal/certificate"
	"plantstore/internal/certtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

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
	current, err := files.TLS().GetCertificate(&tls.ClientHelloInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return current.Leaf.SerialNumber.String()
}

// watched runs a test in a bubble, with watched files. pass waits until a change is detected.
func watched(t *testing.T, test func(t *testing.T, dir string, files *certificate.Files, log *log, pass func())) {
	t.Helper()
	dir := t.TempDir()
	authority := certtest.New(t)
	synctest.Test(t, func(t *testing.T) {
		// The clock of a bubble starts in the year 2000.
		l := new(log)
		cert, key := authority.Issue(dir, time.Now().Add(time.Hour))
		files, err := certificate.Load(cert, key, nil, slog.New(slog.NewTextHandler(l, nil)))
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		go files.Watch(ctx)
		synctest.Wait()
		test(t, dir, files, l, func() {
			time.Sleep(certificate.Interval)
			synctest.Wait()
		})
		cancel()
		synctest.Wait()
	})
}

func TestWatch(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	watched(t, func(t *testing.T, dir string, files *certificate.Files, log *log, pass func()) {
		first := shown(t, files)
		if pass(); shown(t, files) != first || log.take() != "" {
			t.Error("reloaded or logged without a change")
		}
		authority.Issue(dir, time.Now().Add(time.Hour))
		pass()
		second := shown(t, files)
		if logged := log.take(); second == first || !strings.Contains(logged, "certificate reloaded") {
			t.Errorf("the new certificate is not shown; the log is %q", logged)
		}

		// A key that does not match the certificate, and text that is not a key.
		if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
		pass()
		if logged := log.take(); shown(t, files) != second || !strings.Contains(logged, "holds no unencrypted private key") || !strings.Contains(logged, "hint=\"fix the files") {
			t.Errorf("a broken key: %q", logged)
		}
		if pass(); log.take() != "" {
			t.Error("the same error is logged twice")
		}
		if err := os.Remove(filepath.Join(dir, "key.pem")); err != nil {
			t.Fatal(err)
		}
		if pass(); shown(t, files) != second || !strings.Contains(log.take(), "no such file") {
			t.Error("a missing key")
		}
		authority.Issue(dir, time.Now().Add(time.Hour))
		if pass(); shown(t, files) == second {
			t.Error("the intact certificate is not used")
		}
	})
}

// TestWatchAfterFailure checks that unusable files are read again even if the change that made
// them usable is not visible, such as the right to read them.
func TestWatchAfterFailure(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	watched(t, func(t *testing.T, dir string, files *certificate.Files, log *log, pass func()) {
		first := shown(t, files)
		key := renew(authority, dir)
		intact, err := os.ReadFile(key)
		if err != nil {
			t.Fatal(err)
		}
		overwrite(t, key, bytes.Repeat([]byte("x"), len(intact)))
		if pass(); strings.Count(log.take(), "holds no unencrypted private key") != 1 {
			t.Error("want one log message")
		}
		if pass(); log.take() != "" {
			t.Error("the same error is logged twice")
		}
		overwrite(t, key, intact)
		if pass(); shown(t, files) == first || strings.Count(log.take(), "certificate reloaded") != 1 {
			t.Error("the files are not reloaded, or no reload is logged")
		}
		if pass(); log.take() != "" {
			t.Error("they are read still")
		}
	})
}

// renew issues a certificate with a new serial number, and returns the file of its key.
func renew(authority *certtest.Authority, dir string) (key string) {
	time.Sleep(time.Millisecond) // the serial number is the time
	_, key = authority.Issue(dir, time.Now().Add(time.Hour))
	return key
}

// overwrite replaces the contents of a file by others of the same length, and keeps its time.
func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, time.Unix(1e9, 0), time.Unix(1e9, 0)); err != nil {
		t.Fatal(err)
	}
}

// A difference distinguishes a file from the previous one at the same path.
type difference struct{ file, time, size bool }

// change replaces the contents of the file at path by invalid ones, such that only d
// reveals the change.
func change(t *testing.T, path string, d difference) {
	t.Helper()
	before, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	size, at, written := before.Size(), before.ModTime(), path
	if d.size {
		size++
	}
	if d.time {
		at = at.Add(time.Second)
	}
	if d.file {
		written += ".new"
	}
	if err := os.WriteFile(written, bytes.Repeat([]byte("x"), int(size)), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(written, at, at); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(written, path); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	got := difference{!os.SameFile(before, after), !before.ModTime().Equal(after.ModTime()), before.Size() != after.Size()}
	if got != d {
		t.Fatalf("the file is changed in %+v, want %+v", got, d)
	}
}

// TestWatchSeesEachDifference checks that one difference in either file suffices to detect a
// change: of a file that is written to, with its time kept or not, and of a file that is replaced
// by cp -p and mv.
func TestWatchSeesEachDifference(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]difference{
		"written to, as long":          {time: true},
		"written to, at the same time": {size: true},
		"replaced, alike":              {file: true},
	} {
		for file, want := range map[string]string{"cert.pem": "holds no certificate", "key.pem": "holds no unencrypted private key"} {
			t.Run(file+" "+name, func(t *testing.T) {
				t.Parallel()
				watched(t, func(t *testing.T, dir string, _ *certificate.Files, log *log, pass func()) {
					change(t, filepath.Join(dir, file), d)
					pass()
					if logged := log.take(); strings.Count(logged, want) != 1 {
						t.Errorf("the log is %q, want %q", logged, want)
					}
				})
			})
		}
	}
}

// TestReload checks that Reload reloads immediately, and Watch does not reload the same files
// again.
func TestReload(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	watched(t, func(t *testing.T, dir string, files *certificate.Files, log *log, pass func()) {
		first := shown(t, files)
		renew(authority, dir)
		if err := files.Reload(t.Context()); err != nil || shown(t, files) == first {
			t.Errorf("the new certificate is not shown: %v", err)
		}
		second := shown(t, files)
		if logged := log.take(); !strings.Contains(logged, "certificate reloaded") {
			t.Errorf("the log is %q", logged)
		}
		if err := os.WriteFile(filepath.Join(dir, "key.pem"), []byte("none"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := files.Reload(t.Context()); err == nil || shown(t, files) != second {
			t.Errorf("a broken key: %v", err)
		}
		if pass(); log.take() != "" {
			t.Error("a reload is logged twice")
		}
	})
}

// TestValidity checks that a certificate that is not valid yet or has expired is logged once,
// also if it expires while it is in use.
func TestValidity(t *testing.T) {
	t.Parallel()
	authority := certtest.New(t)
	watched(t, func(t *testing.T, dir string, _ *certificate.Files, log *log, pass func()) {
		if logged := log.take(); logged != "" {
			t.Errorf("it is valid, and the log is %q", logged)
		}
		authority.Issue(dir, time.Now().Add(certtest.Validity+time.Hour))
		if pass(); strings.Count(log.take(), "not valid now") != 1 {
			t.Error("it is not valid yet: want one log message")
		}
		time.Sleep(time.Hour)
		if pass(); log.take() != "" {
			t.Error("it is valid, or was not before, and yet")
		}
		time.Sleep(certtest.Validity)
		if pass(); strings.Count(log.take(), "not valid now") != 1 {
			t.Error("it has expired: want one log message")
		}
		if pass(); log.take() != "" {
			t.Error("it is logged again")
		}
	})
}

func TestLoadWrongFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cert, key := certtest.New(t).Issue(dir, time.Now().Add(time.Hour))
	other, _ := certtest.New(t).Issue(t.TempDir(), time.Now().Add(time.Hour))
	malformed := filepath.Join(dir, "malformed")
	if err := os.WriteFile(malformed, []byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct{ cert, key, want string }{
		"no certificate":        {cert + "x", key, "TLS_CERT_FILE: open"},
		"no key":                {cert, key + "x", "TLS_KEY_FILE: open"},
		"a key for another":     {other, key, "do not belong together"},
		"the other way round":   {key, cert, "TLS_CERT_FILE " + key + " holds no certificate"},
		"twice the certificate": {cert, cert, "TLS_KEY_FILE " + cert + " holds no unencrypted private key"},
		"malformed":             {malformed, key, "TLS_CERT_FILE " + malformed + " holds no certificate"},
		"a directory":           {dir, key, "TLS_CERT_FILE: read " + dir},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := certificate.Load(test.cert, test.key, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q in it", err, test.want)
			}
		})
	}
}
