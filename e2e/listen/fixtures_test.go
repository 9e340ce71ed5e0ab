// Package listen tests how clients reach the server: over TLS and over Unix sockets.
package listen

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// conform checks a server against the contract.
func conform(t *testing.T, server *plantstore.Server, args ...string) {
	t.Helper()
	args = append([]string{"conformance", "--url", server.BaseURL, "--level", "wire", "--secret-file", "data/jwt-secret"}, args...)
	cmd := plantstore.Command(t, server.Dir, []string{"TOKEN=" + server.Token()}, args...)
	if code, out := plantstore.Finish(t, cmd); code != 0 || !strings.Contains(out, " 0 failed") {
		t.Errorf("%v: exit code %d\n%s", args, code, out)
	}
}

// newClient returns a client that connects to address in the network, whatever the URL is, over TLS
// if config is not nil, and HTTP/2 if the server has it.
func newClient(t *testing.T, config *tls.Config, network, address string) *http.Client {
	t.Helper()
	client := plantstore.NewTLSClient(t, config)
	transport := client.Transport.(*http.Transport)
	transport.ForceAttemptHTTP2 = true
	transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	return client
}

// create creates a plant with that id.
func create(t *testing.T, client *http.Client, server *plantstore.Server, id string) {
	t.Helper()
	r := must.Get(plantstore.Post(t.Context(), client, server.BaseURL, server.Token(), `{"id":`+id+`,"name":"fern"}`))(t)
	if r.Proto != "HTTP/1.1" || r.Status != http.StatusOK {
		t.Errorf("%s %d %s, want 200 over HTTP/1.1", r.Proto, r.Status, r.Body)
	}
}
