// Package haproxy runs HAProxy in front of servers.
package haproxy

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// Start starts HAProxy with a configuration that binds address.
func Start(t testing.TB, config, address string) *process.Process {
	t.Helper()
	program, dir := tools.Require(t, "haproxy"), t.TempDir()
	file := filepath.Join(dir, "haproxy.cfg")
	must.Do(t, os.WriteFile(file, []byte(config), 0o600))
	p := process.Start(t, dir, exec.CommandContext(context.Background(), program, "-db", "-f", file))
	process.AwaitPort(t, address)
	return p
}

// A Proxy is a running HAProxy with docs/deploy/haproxy.cfg.
type Proxy struct {
	*process.Process

	// Address is the address for clients, who use TLS.
	Address string
	// TLS is the configuration of a client that trusts its certificate.
	TLS *tls.Config
}

// StartShipped starts HAProxy with docs/deploy/haproxy.cfg, in which only the addresses and the path of the
// certificate are replaced, and perhaps what replace says. Its server a is at host; nothing is at the
// addresses of the others.
func StartShipped(t testing.TB, host string, replace ...string) *Proxy {
	t.Helper()
	dir, address := t.TempDir(), process.Port(process.Address(), 8443)
	front, _, _ := net.SplitHostPort(address)
	authority := certtest.New(t)
	cert, key := authority.Issue(dir, time.Now().Add(time.Hour), net.ParseIP(front))
	pem := filepath.Join(dir, "plants.pem")
	must.Do(t, os.WriteFile(pem, slices.Concat(must.Get(os.ReadFile(cert))(t), must.Get(os.ReadFile(key))(t)), 0o600))
	config := strings.NewReplacer(append(replace, "10.0.0.1", host, "10.0.0.2", process.Address(), "10.0.0.3", process.Address(),
		"bind :443", "bind "+address, "/etc/haproxy/plants.pem", pem)...).Replace(string(tools.ProjectFile(t, "docs/deploy/haproxy.cfg")))
	client := authority.Client()
	client.ServerName = front
	return &Proxy{Start(t, config, address), address, client}
}

// Log returns the log so far.
func (p *Proxy) Log(t testing.TB) string {
	t.Helper()
	return string(must.Get(os.ReadFile(p.LogFile))(t))
}
