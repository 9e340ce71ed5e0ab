// Package certificate gets the certificates with which the server speaks TLS: from
// files that others replace, or from an authority by ACME.
package certificate

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// minVersion is the least version of TLS: what came before 1.2 is no longer to be
// spoken (RFC 8996).
const minVersion = tls.VersionTLS12

// Interval is how often it is looked whether files have changed.
const Interval = 5 * time.Second

// Files are a certificate and its key in two files, which may be replaced while
// the server runs.
type Files struct {
	cert, key string
	logger    *slog.Logger
	current   atomic.Pointer[tls.Certificate]

	mu       sync.Mutex     // guards the following
	seen     [2]os.FileInfo // when they were last read; nil if they were not there
	failure  string         // why they could not be used then; empty if they could
	validity validity       // of current, when it was last looked at
}

// A validity is whether clients take a certificate at a time.
type validity int

const (
	valid validity = iota
	notYetValid
	expired
)

// Load reads a certificate, with those between it and its authority, from the file
// cert, and its private key from the file key. Both are PEM. The error names the
// file that is at fault. What comes of it later is told to logger.
func Load(cert, key string, logger *slog.Logger) (*Files, error) {
	f := &Files{cert: cert, key: key, logger: logger}
	if err := f.read(); err != nil {
		return nil, err
	}
	return f, nil
}

// TLS returns what a server speaks TLS with.
func (f *Files) TLS() *tls.Config {
	return &tls.Config{
		MinVersion:     minVersion,
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return f.current.Load(), nil },
	}
}

// Expires returns when the certificate in use expires.
func (f *Files) Expires() time.Time { return f.current.Load().Leaf.NotAfter }

// Reload reads the files again, and logs which certificate is in use now. If they
// cannot be used, the certificate stays as it was.
func (f *Files) Reload(context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.read(); err != nil {
		return err
	}
	f.tell()
	return nil
}

// Watch reads the files again whenever they change, until ctx is done: when they
// are written to, replaced, or a symbolic link on the way to them is. What cannot
// be used it logs, and the certificate stays as it was.
func (f *Files) Watch(ctx context.Context) {
	ticker := time.NewTicker(Interval)
	defer ticker.Stop()
	for {
		f.check()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// check reads the files if they have changed, or could not be used: then whoever may
// read them can have changed without a sign of it. It warns of what clients will not
// take.
func (f *Files) check() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if before := f.failure; before != "" || f.changed() {
		switch err := f.read(); {
		case err == nil:
			f.tell()
		case f.failure != before:
			f.logger.Error("the new certificate cannot be used; the one before stays in use", "cause", f.failure)
		}
	}
	f.warn()
}

// tell logs which certificate is in use after the files were read anew.
func (f *Files) tell() {
	leaf := f.current.Load().Leaf
	f.logger.Info("the certificate was loaded anew", "file", f.cert, "serial", leaf.SerialNumber.Text(16), "expires", leaf.NotAfter)
}

// warn logs once that the certificate is not valid yet, and once that it has
// expired. The caller holds f.mu, as those of the following do.
func (f *Files) warn() {
	leaf := f.current.Load().Leaf
	before := f.validity
	f.validity = validityOf(leaf, time.Now())
	if f.validity == valid || f.validity == before {
		return
	}
	f.logger.Warn("the certificate is not valid now: clients will refuse it; replace it, or look at the clock",
		"file", f.cert, "from", leaf.NotBefore, "expires", leaf.NotAfter)
}

func validityOf(leaf *x509.Certificate, now time.Time) validity {
	switch {
	case now.Before(leaf.NotBefore):
		return notYetValid
	case now.After(leaf.NotAfter):
		return expired
	}
	return valid
}

// look returns what there is to see of the files without reading them.
func (f *Files) look() (infos [2]os.FileInfo) {
	for i, path := range []string{f.cert, f.key} {
		if info, err := os.Stat(path); err == nil {
			infos[i] = info
		}
	}
	return infos
}

// changed reports whether the files are others than those that were last read.
func (f *Files) changed() bool {
	for i, now := range f.look() {
		before := f.seen[i]
		switch {
		case now == nil || before == nil:
			if now != before {
				return true
			}
		case !os.SameFile(now, before), !now.ModTime().Equal(before.ModTime()), now.Size() != before.Size():
			return true
		}
	}
	return false
}

// read reads the files, and uses what is in them if it can. What changes while it
// does is seen as a change later.
func (f *Files) read() error {
	f.seen = f.look()
	pair, err := f.pair()
	if err != nil {
		f.failure = err.Error()
		return err
	}
	f.current.Store(&pair)
	f.failure, f.validity = "", valid
	return nil
}

// pair returns what is in the files.
func (f *Files) pair() (tls.Certificate, error) {
	cert, err := os.ReadFile(f.cert)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("TLS_CERT_FILE: %w", err)
	}
	key, err := os.ReadFile(f.key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("TLS_KEY_FILE: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return tls.Certificate{}, f.explain(err, cert)
	}
	return pair, nil
}

// explain says which of the files is to blame.
func (f *Files) explain(err error, cert []byte) error {
	switch what := strings.TrimPrefix(err.Error(), "tls: "); {
	case strings.Contains(what, "does not match"):
		return fmt.Errorf("TLS_CERT_FILE %s and TLS_KEY_FILE %s do not belong together: the key is not that of the first certificate", f.cert, f.key)
	case !hasCertificate(cert):
		return fmt.Errorf("TLS_CERT_FILE %s holds no certificate as PEM: %s", f.cert, what)
	default:
		return fmt.Errorf("TLS_KEY_FILE %s holds no private key as PEM, without a password: %s", f.key, what)
	}
}

// hasCertificate reports whether the first certificate in a PEM text can be read.
func hasCertificate(text []byte) bool {
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		if block.Type == "CERTIFICATE" {
			_, err := x509.ParseCertificate(block.Bytes)
			return err == nil
		}
	}
	return false
}
