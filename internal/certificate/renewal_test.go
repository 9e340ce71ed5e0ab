package certificate_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/certificate"
)

const (
	hour = time.Hour
	day  = 24 * hour
)

// A validity is the lifetime of a certificate, and how much of it is left.
type validity struct{ lifetime, left time.Duration }

// forRSA is the suffix of the names in a cache for certificates with an RSA key.
const forRSA = "+rsa"

// issue writes a certificate for a domain into a cache under that name, as another server that
// shares the cache would.
func issue(t *testing.T, cache, name string, v validity) {
	t.Helper()
	domain, isRSA := strings.CutSuffix(name, forRSA)
	var key crypto.Signer
	var err error
	if isRSA {
		key, err = rsa.GenerateKey(rand.Reader, 2048)
	} else {
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	}
	if err != nil {
		t.Fatal(err)
	}
	expires := time.Now().Add(v.left)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), DNSNames: []string{domain}, NotBefore: expires.Add(-v.lifetime), NotAfter: expires,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	for _, block := range []*pem.Block{{Type: "PRIVATE KEY", Bytes: private}, {Type: "CERTIFICATE", Bytes: der}} {
		if err := pem.Encode(&text, block); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(cache, name), text.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// errorsIn returns the times, relative to the expiry, at which the log reports that a
// certificate is not renewed or has expired, and which. A report is late by at most the
// interval of the checks.
func errorsIn(t *testing.T, text string) (found []string) {
	t.Helper()
	line := regexp.MustCompile(`time=(\S+) level=ERROR msg="ACME certificate (not renewed|expired).* port 443.* expires=(\S+)`)
	for _, m := range line.FindAllStringSubmatch(text, -1) {
		at, err := time.Parse(time.RFC3339, m[1])
		if err != nil {
			t.Fatal(err)
		}
		expires, err := time.Parse(time.RFC3339, m[3])
		if err != nil {
			t.Fatal(err)
		}
		after := at.Sub(expires) - time.Nanosecond // a report at that time is found at the next check
		found = append(found, after.Round(2*certificate.Interval).String()+" "+m[2])
	}
	if n := strings.Count(text, "level=ERROR"); n != len(found) {
		t.Errorf("%d errors, of which %d are understood:\n%s", n, len(found), text)
	}
	return found
}

// TestACMERenewalFails checks that an overdue renewal is logged once, each day, and at expiry;
// the certificate stays in use.
func TestACMERenewalFails(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		validity
		until time.Duration // how long after the expiry the log is checked
		want  []string
	}{
		"3 days":                   {validity{3 * day, 3 * day}, 25 * hour, []string{"-18h0m0s not renewed", "0s expired", "24h0m0s expired"}},
		"8 days":                   {validity{8 * day, 4 * day}, hour, []string{"-48h0m0s not renewed", "-24h0m0s not renewed", "0s expired"}},
		"a year":                   {validity{365 * day, 23 * day}, -515 * hour, []string{"-540h0m0s not renewed", "-516h0m0s not renewed"}},
		"unknown, perhaps in time": {validity{90 * day, 23 * day}, -541 * hour, nil},
		"minutes":                  {validity{10 * time.Minute, 10 * time.Minute}, hour, []string{"-2m30s not renewed", "0s expired"}},
		"late at the start":        {validity{9 * day, day}, hour, []string{"-23h50m0s not renewed", "0s expired"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cached(t, []string{domain}, []validity{test.validity}, func(t *testing.T, source *certificate.ACME, calls *calls, log *log, _ string) {
				expires := time.Now().Add(test.left)
				time.Sleep(test.left + test.until)
				synctest.Wait()
				if diff := cmp.Diff(test.want, errorsIn(t, log.take())); diff != "" {
					t.Errorf("messages and times (-want +got):\n%s", diff)
				}
				if got := source.Expires(); !got.Equal(expires) {
					t.Errorf("it expires %v, want %v", got, expires)
				}
				if len(calls.take()) == 0 {
					t.Error("the authority is not called at all")
				}
			})
		})
	}
}

// TestACMERenewal checks that a renewal is logged and ends the reminders.
func TestACMERenewal(t *testing.T) {
	t.Parallel()
	v := validity{3 * day, 3 * day}
	cached(t, []string{domain}, []validity{v}, func(t *testing.T, source *certificate.ACME, _ *calls, log *log, cache string) {
		if logged := log.take(); strings.Count(logged, "ACME certificate obtained") != 1 {
			t.Errorf("the log is %q", logged)
		}
		time.Sleep(2*day + 8*hour)
		synctest.Wait()
		if got := errorsIn(t, log.take()); len(got) != 1 {
			t.Errorf("messages: %q", got)
		}
		issue(t, cache, domain, v)
		expires := time.Now().Add(v.left)
		time.Sleep(hour + certificate.Interval) // by then a renewal has been tried again
		synctest.Wait()
		if logged := log.take(); strings.Count(logged, "level=INFO") != 1 || !strings.Contains(logged, "ACME certificate renewed") || len(errorsIn(t, logged)) > 0 {
			t.Errorf("the log is %q", logged)
		}
		if got := source.Expires(); !got.Equal(expires) {
			t.Errorf("it expires %v, want %v", got, expires)
		}
		time.Sleep(2 * day)
		synctest.Wait()
		if logged := log.take(); logged != "" {
			t.Errorf("the log is %q", logged)
		}
	})
}

// TestACMERenewalOfRSA checks that the certificate for clients that accept only RSA is watched
// as soon as it exists.
func TestACMERenewalOfRSA(t *testing.T) {
	t.Parallel()
	cached(t, []string{domain}, []validity{{90 * day, 90 * day}}, func(t *testing.T, source *certificate.ACME, _ *calls, log *log, cache string) {
		issue(t, cache, domain+forRSA, validity{3 * hour, 3 * hour})
		time.Sleep(time.Minute)
		log.take()
		expires := time.Now().Add(3*hour - time.Minute)
		if err := shake(t.Context(), source.TLS(), rsaAlone()); err != nil {
			t.Fatal(err)
		}
		if logged := log.take(); strings.Count(logged, "ACME certificate obtained") != 1 || !strings.Contains(logged, "key=RSA") {
			t.Errorf("the log is %q", logged)
		}
		if got := source.Expires(); !got.Equal(expires) {
			t.Errorf("it expires %v, want %v", got, expires)
		}
		time.Sleep(3 * hour)
		synctest.Wait()
		logged := log.take()
		if diff := cmp.Diff([]string{"-45m0s not renewed", "0s expired"}, errorsIn(t, logged)); diff != "" || strings.Contains(logged, "key=ECDSA") {
			t.Errorf("messages and times (-want +got):\n%s\n%s", diff, logged)
		}
	})
}

// TestACMEExpires checks that Expires returns the earliest expiry, or the zero time without a
// certificate.
func TestACMEExpires(t *testing.T) {
	t.Parallel()
	domains := []string{"a.example.com", "b.example.com", "c.example.com"}
	for name, test := range map[string]struct {
		valid []validity
		want  time.Duration // from now; 0: not at all
	}{
		"none":    {nil, 0},
		"one":     {[]validity{{day, day}}, day},
		"several": {[]validity{{2 * day, 2 * day}, {day, day}, {3 * day, 3 * day}}, day},
		"expired": {[]validity{{2 * day, -hour}}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cached(t, domains, test.valid, func(t *testing.T, source *certificate.ACME, _ *calls, _ *log, _ string) {
				var want time.Time
				if test.want != 0 {
					want = time.Now().Add(test.want)
				}
				if got := source.Expires(); !got.Equal(want) {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		})
	}
}

// TestACMEExpiredAtStart checks that an expired certificate in the cache is not used at the
// start: a new one is requested immediately, and the failure is logged.
func TestACMEExpiredAtStart(t *testing.T) {
	t.Parallel()
	cached(t, []string{domain}, []validity{{3 * day, -hour}}, func(t *testing.T, _ *certificate.ACME, calls *calls, log *log, _ string) {
		if got := calls.take(); len(got) != 1 || got[0] != 0 {
			t.Errorf("the authority is called after %v, want at once", got)
		}
		if logged := log.take(); !strings.Contains(logged, "no ACME certificate yet") || !strings.Contains(logged, "no route") || !strings.Contains(logged, "hint=") {
			t.Errorf("the log is %q", logged)
		}
	})
}
