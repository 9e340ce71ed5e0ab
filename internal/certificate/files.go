// Package certificate provides the server's TLS certificates: from files, which it
// reloads when they change, or from an authority by ACME.
package certificate

import (
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"plantstore/internal/secretfile"
	"plantstore/internal/wait"
)

// minVersion is the minimum version of TLS: older ones are deprecated (RFC 8996).
const minVersion = tls.VersionTLS12

// Interval is the time between checks for changes.
const Interval = 5 * time.Second

// maxKey is the maximum size of a private key file in bytes.
const maxKey = 1 << 20

// Files is a certificate and its key in two files, which may be replaced while the
// server runs.
type Files struct {
	cert, key string
	report    secretfile.Report
	logger    *slog.Logger
	current   atomic.Pointer[tls.Certificate]

	mu      sync.Mutex // guards the following
	failure string     // error of the last read; empty: success
	warned  bool       // that current is not valid
}

// Load reads a certificate chain from the file cert and its private key from the file key,
// both in PEM. The error names the faulty file. A key that other users can change is an
// error, and one that they can read is passed to report (package secretfile). Reloads are
// logged to logger.
func Load(cert, key string, report secretfile.Report, logger *slog.Logger) (*Files, error) {
	f := &Files{cert: cert, key: key, report: report, logger: logger}
	if _, err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

// TLS returns the TLS configuration of a server.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     minVersion,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.current.Load(), nil },
	}
}

// Expires returns when the certificate in use expires.
func (f *Files) Expires() time.Time { return f.current.Load().Leaf.NotAfter }

// Reload reloads the files and logs the certificate. If that fails, the previous
// certificate stays in use.
func (f *Files) Reload(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, err := f.read(); err != nil {
		return err
	}
	f.logReload()
	return nil
}

// Watch reads the files every [Interval], until ctx is done, and uses a new certificate.
// It logs failures, after which the previous certificate stays in use. Pipes, which can be
// read only once, are not watched.
func (f *Files) Watch(ctx context.Context) {
	for _, path := range []string{f.cert, f.key} {
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
			return
		}
	}
	f.check()
	wait.Every(ctx, Interval, f.check)
}

// check reads the files, and logs a new certificate, a new failure, and the end of a
// failure. It warns of a certificate that is not valid.
func (f *Files) check() {
	f.mu.Lock()
	defer f.mu.Unlock()
	before := f.failure
	isNew, _ := f.read()
	switch {
	case f.failure != "" && f.failure != before:
		f.logger.Error("certificate reload failed, keeping the previous certificate", "cause", f.failure,
			"hint", "fix the files; they are reloaded without a restart")
	case f.failure == "" && (isNew || before != ""):
		f.logReload()
	}
	f.warn()
}

// logReload logs the certificate in use after a reload.
func (f *Files) logReload() {
	f.warned = false
	leaf := f.current.Load().Leaf
	f.logger.Info("certificate reloaded", "file", f.cert, "serial", leaf.SerialNumber.Text(16), "expires", leaf.NotAfter)
}

// warn logs once that the certificate is not valid yet, and once that it has expired. The
// caller holds f.mu, also in the methods below.
func (f *Files) warn() {
	leaf, now := f.current.Load().Leaf, time.Now()
	invalid := now.Before(leaf.NotBefore) || now.After(leaf.NotAfter)
	if invalid && !f.warned {
		f.logger.Warn("certificate not valid now, clients reject it",
			"file", f.cert, "from", leaf.NotBefore, "expires", leaf.NotAfter, "hint", "replace it, or check the clock")
	}
	f.warned = invalid
}

// read reads the files and uses the certificate if it is valid. It reports whether the
// certificate is another one than before.
func (f *Files) read() (isNew bool, err error) {
	pair, err := f.pair()
	if err != nil {
		f.failure = err.Error()
		return false, err
	}
	f.failure = ""
	before := f.current.Swap(&pair)
	return before == nil || !slices.EqualFunc(pair.Certificate, before.Certificate, bytes.Equal), nil
}

// pair reads the certificate and key from the files.
func (f *Files) pair() (tls.Certificate, error) {
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("TLS_CERT_FILE: %w", err)
	}
	key, err := secretfile.Read(f.key, maxKey, f.report)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("TLS_KEY_FILE: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, f.pairError(err)
	}
	return pair, nil
}

// pairError returns an error that names the faulty file.
func (f *Files) pairError(err error) error {
	switch cause, isTLS := strings.CutPrefix(err.Error(), "tls: "); {
	case strings.Contains(cause, "does not match"):
		return fmt.Errorf("TLS_CERT_FILE %s and TLS_KEY_FILE %s do not belong together: the key does not match the first certificate", f.cert, f.key)
	case !isTLS, strings.Contains(cause, "in certificate input"): // the first from crypto/x509
		return fmt.Errorf("TLS_CERT_FILE %s holds no certificate in PEM: %s", f.cert, cause)
	default:
		return fmt.Errorf("TLS_KEY_FILE %s holds no unencrypted private key in PEM: %s", f.key, cause)
	}
}
