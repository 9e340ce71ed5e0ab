// Package pebble runs a real ACME authority for the end-to-end tests: pebble, the test server of
// Let's Encrypt. Pebble refuses some requests on purpose.
package pebble

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// The ports, at an unused address.
const (
	directoryPort  = 14000
	managementPort = 15000
	dnsPort        = 8053
)

// A Pebble is a running authority.
type Pebble struct {
	*process.Process
	// Directory is the URL of its directory.
	Directory string

	t          testing.TB
	authority  *certtest.Authority // for the certificate of the directory itself
	management string
}

// Start starts an ACME server that resolves all domains to the address host, and issues
// certificates with this validity. The certificate of its own directory is issued by authority.
func Start(t testing.TB, authority *certtest.Authority, host string, validity time.Duration) *Pebble {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "pebble")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/letsencrypt/pebble/v2/cmd/pebble")
	build.Dir = filepath.Join(tools.Project(t), "e2e", "pebble")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build pebble: %v\n%s", err, out)
	}
	resolve(t, host)
	address := process.Address()
	directory, management := process.Port(address, directoryPort), process.Port(address, managementPort)
	p := &Pebble{t: t, authority: authority, Directory: "https://" + directory + "/dir", management: "https://" + management}
	cert, key := authority.Issue(dir, time.Now().Add(time.Hour), net.ParseIP(address))
	config, err := json.Marshal(map[string]any{"pebble": map[string]any{
		"listenAddress": directory, "managementListenAddress": management,
		"certificate": cert, "privateKey": key, "httpPort": 80, "tlsPort": 443, "keyAlgorithm": "ecdsa",
		"retryAfter": map[string]int{"authz": 1, "order": 1},
		"profiles":   map[string]any{"default": map[string]any{"description": "the usual one", "validityPeriod": int(validity.Seconds())}},
	}})
	must.Do(t, err)
	path := filepath.Join(dir, "config.json")
	must.Do(t, os.WriteFile(path, config, 0o600))
	cmd := exec.CommandContext(context.Background(), program, "-config", path, "-dnsserver", process.Port(host, dnsPort))
	cmd.Env = append(os.Environ(), "PEBBLE_VA_NOSLEEP=1")
	p.Process = process.Start(t, dir, cmd)
	process.Eventually(t, "pebble", func(context.Context) error {
		_, err := p.get(p.Directory)
		return err
	})
	return p
}

// Roots returns the root certificates of the authority, which the clients of a server with its
// certificate trust.
func (p *Pebble) Roots() *x509.CertPool {
	p.t.Helper()
	text := must.Get(p.get(p.management + "/roots/0"))(p.t).Body
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(text)) {
		p.t.Fatalf("no certificate in %q", text)
	}
	return pool
}

func (p *Pebble) get(url string) (plantstore.Reply, error) {
	return plantstore.Do(p.t.Context(), plantstore.NewTLSClient(p.t, p.authority.Client()), http.MethodGet, url, "")
}

// resolve answers DNS queries for any name with the address host, until the test ends: over TCP,
// which pebble uses.
func resolve(t testing.TB, host string) {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", process.Port(host, dnsPort)))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			respondOn(conn, net.ParseIP(host)) // without a response the client retries
		}
	}()
}

// respondOn responds to the one DNS query of a connection. Each message is preceded by its
// length (RFC 1035, 4.2.2).
func respondOn(conn net.Conn, ip net.IP) {
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(process.Patience))
	var length [2]byte
	if _, err := io.ReadFull(conn, length[:]); err != nil {
		return
	}
	question := make([]byte, binary.BigEndian.Uint16(length[:]))
	if _, err := io.ReadFull(conn, question); err != nil {
		return
	}
	response, err := responseTo(question, ip)
	if err != nil {
		return
	}
	_, _ = conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(response))), response...))
}

// responseTo returns the response to a DNS query: ip as the address of any name, and no other
// records.
func responseTo(question []byte, ip net.IP) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(question); err != nil {
		return nil, err
	}
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	for _, q := range m.Questions {
		if q.Type == dnsmessage.TypeA {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Class: q.Class, TTL: 1}, Body: &dnsmessage.AResource{A: [4]byte(ip.To4())},
			})
		}
	}
	return m.Pack()
}

// Client returns the TLS configuration of a client that trusts the authority, for the server
// with that domain.
func (p *Pebble) Client(domain string) *tls.Config {
	return &tls.Config{RootCAs: p.Roots(), ServerName: domain, MinVersion: tls.VersionTLS12}
}
