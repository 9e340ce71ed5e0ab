package certificate_test

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/certificate"
)

const domain = "plants.example.com"

// shake runs a TLS handshake between a client and a server with these configurations until it
// succeeds, fails, or ctx is done, and returns the server's error.
func shake(ctx context.Context, server, client *tls.Config) error {
	near, far := net.Pipe()
	client = client.Clone()
	client.InsecureSkipVerify = true
	var ends sync.WaitGroup
	ends.Go(func() {
		_ = tls.Client(near, client).HandshakeContext(ctx)
		_ = near.Close()
	})
	err := tls.Server(far, server).HandshakeContext(ctx)
	_ = far.Close()
	ends.Wait()
	return err
}

// TestACMEHangs checks that an authority that never responds blocks one goroutine, not one for
// each client that has given up.
//
//nolint:paralleltest // it counts goroutines
func TestACMEHangs(t *testing.T) {
	const clients = 50
	requested := make(chan struct{}, clients)
	directory := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		requested <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(directory.Close)
	t.Cleanup(directory.CloseClientConnections)
	source := certificate.NewACME([]string{domain}, t.TempDir(), directory.URL, "", slog.New(slog.DiscardHandler))
	source.SetClient(directory.Client())

	config := source.TLS()
	get := config.GetCertificate
	arrived, gone := make(chan struct{}, clients), make(chan error, clients)
	config.GetCertificate = func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		arrived <- struct{}{}
		got, err := get(hello)
		gone <- err
		return got, err
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go source.Watch(ctx)
	var all sync.WaitGroup
	for range clients {
		all.Go(func() { _ = shake(ctx, config, &tls.Config{ServerName: domain}) })
	}
	for range clients {
		<-arrived
	}
	<-requested
	cancel()
	for range clients {
		if err := <-gone; !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), domain) {
			t.Errorf("a handshake ends with %v", err)
		}
	}
	all.Wait()
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	if n := strings.Count(string(stacks), "(*Manager).GetCertificate("); n != 1 {
		t.Errorf("%d goroutines wait for the authority, want 1", n)
	}
}

// calls is an unreachable authority that records the times of attempts.
type calls struct {
	mu    sync.Mutex
	start time.Time
	at    []time.Duration // after start
}

func (c *calls) RoundTrip(*http.Request) (*http.Response, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, time.Since(c.start))
	return nil, errors.New("no route")
}

func (c *calls) take() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.at = nil }()
	return slices.Clone(c.at)
}

// unreachable runs a test in a bubble, with watched certificates of an unreachable authority.
func unreachable(t *testing.T, test func(t *testing.T, source *certificate.ACME, calls *calls, log *log)) {
	t.Helper()
	cached(t, []string{domain}, nil, func(t *testing.T, source *certificate.ACME, calls *calls, log *log, _ string) {
		test(t, source, calls, log)
	})
}

// cached is unreachable for these domains, with certificates in the cache that are
// valid for so long from now on: see issue.
func cached(t *testing.T, domains []string, valid []validity,
	test func(t *testing.T, source *certificate.ACME, calls *calls, log *log, cache string),
) {
	t.Helper()
	cache := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		calls, log := &calls{start: time.Now()}, new(log)
		for i, v := range valid {
			issue(t, cache, domains[i], v)
		}
		source := certificate.NewACME(domains, cache, "https://ca.test/directory", "", slog.New(slog.NewTextHandler(log, nil)))
		source.SetClient(&http.Client{Transport: calls})
		ctx, cancel := context.WithCancel(t.Context())
		go source.Watch(ctx)
		synctest.Wait()
		test(t, source, calls, log, cache)
		cancel()
		synctest.Wait()
	})
}

// TestACMERetries checks that failed attempts are repeated with increasing delay, within the
// authority's rate limits.
func TestACMERetries(t *testing.T) {
	t.Parallel()
	unreachable(t, func(t *testing.T, _ *certificate.ACME, calls *calls, log *log) {
		time.Sleep(200 * time.Minute)
		synctest.Wait()
		var want []time.Duration
		for _, minutes := range []int{0, 2, 6, 14, 30, 62, 122, 182} {
			want = append(want, time.Duration(minutes)*time.Minute)
		}
		if diff := cmp.Diff(want, calls.take()); diff != "" {
			t.Errorf("when the authority was called (-want +got):\n%s", diff)
		}
		logged := log.take()
		if n := strings.Count(logged, "no ACME certificate yet"); n != len(want) {
			t.Errorf("%d failures are logged, want %d", n, len(want))
		}
		for _, part := range []string{"this server must reach the authority", "port 443", "no route"} {
			if !strings.Contains(logged, part) {
				t.Errorf("the log does not contain %q: %s", part, logged)
			}
		}
	})
}

// rsaAlone is a client that accepts only certificates with an RSA key.
func rsaAlone() *tls.Config {
	return &tls.Config{ //nolint:gosec // such clients there are
		ServerName: domain, MaxVersion: tls.VersionTLS12,
		CipherSuites: []uint16{tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256},
	}
}

// TestACMEClients checks that clients do not make the server try more often. Only a client that
// needs another type of key causes a further request.
func TestACMEClients(t *testing.T) {
	t.Parallel()
	tls12 := &tls.Config{ServerName: domain, MaxVersion: tls.VersionTLS12} //nolint:gosec // such clients there are
	tests := map[string]struct {
		client *tls.Config
		want   string // in the error
		calls  int
	}{
		"of today":         {&tls.Config{ServerName: domain}, "no route", 0},
		"TLS 1.2":          {tls12, "no route", 0},
		"TLS 1.3 alone":    {&tls.Config{ServerName: domain, MinVersion: tls.VersionTLS13}, "no route", 0},
		"in upper case":    {&tls.Config{ServerName: "PLANTS.example.com"}, "no route", 0},
		"without a name":   {&tls.Config{}, "no route", 0},
		"RSA alone":        {rsaAlone(), "no route", 1},
		"of another name":  {&tls.Config{ServerName: "other.example.com"}, "not in ACME_DOMAINS", 0},
		"with a challenge": {&tls.Config{ServerName: domain, NextProtos: []string{"acme-tls/1"}}, "no token cert", 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			unreachable(t, func(t *testing.T, source *certificate.ACME, calls *calls, _ *log) {
				calls.take()
				time.Sleep(90 * time.Second) // autocert itself would try again after one minute
				for range 3 {
					if err := shake(t.Context(), source.TLS(), test.client); err == nil || !strings.Contains(err.Error(), test.want) {
						t.Errorf("got %v, want %q", err, test.want)
					}
				}
				if got := len(calls.take()); got != test.calls {
					t.Errorf("the authority is called %d times, want %d", got, test.calls)
				}
			})
		})
	}
}
