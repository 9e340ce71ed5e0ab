// Package listen tests how clients reach the server: over TLS and over Unix sockets.
package listen

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// await waits until a condition on another process is met.
func await(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not within %v: %s", patience, condition)
		}
	}
}

// output returns the output of a command, which must succeed.
func output(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return string(out)
}

// conform checks a server against the contract.
func conform(t *testing.T, server *plantstore.Server, args ...string) {
	t.Helper()
	args = append([]string{"conformance", "--token", server.Token(), "--secret-file", "data/jwt-secret"}, args...)
	out := output(t, plantstore.Command(t, server.Dir, nil, args...))
	if !strings.Contains(out, " 0 failed") || strings.Contains(out, "\nFAIL ") {
		t.Errorf("%v:\n%s", args, out)
	}
	lines := strings.Split(strings.TrimSpace(out), "\n")
	t.Log(lines[len(lines)-1])
}

// A client connects to a server in one way.
type client struct {
	http.Client
}

// newClient returns a client, over TLS if config is not nil. If address is not empty, it
// connects to address in the network instead of that in the URL.
func newClient(t *testing.T, config *tls.Config, network, address string) *client {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: config != nil && len(config.NextProtos) == 0}
	if network != "" {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, address)
		}
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{http.Client{Transport: transport, Timeout: patience}}
}

// get returns the body of a response.
func (c *client) get(t *testing.T, url string) string {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
	_, body := c.do(t, request)
	return body
}

// create sends a plant and returns the version of HTTP of the response, its status
// and its body.
func (c *client) create(t *testing.T, server *plantstore.Server, base, plant string) (version string, status int, body string) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/plants", strings.NewReader(plant)))(t)
	request.Header.Set("Authorization", "Bearer "+server.Token())
	request.Header.Set("Content-Type", "application/json")
	response, body := c.do(t, request)
	return response.Proto, response.StatusCode, body
}

// do returns the response to a request, and its body, which has been read.
func (c *client) do(t *testing.T, request *http.Request) (response *http.Response, body string) {
	t.Helper()
	response = must.Get(c.Do(request))(t)
	defer func() { _ = response.Body.Close() }()
	text := must.Get(io.ReadAll(response.Body))(t)
	return response, string(text)
}
