package listen

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/certtest"
	"plantstore/internal/must"
)

// startHAProxy starts HAProxy with docs/deploy/haproxy.cfg, in which replace replaces the addresses,
// and returns a function that sends a plant through it.
func startHAProxy(t *testing.T, replace ...string) func(token, plant string) plantstore.Reply {
	t.Helper()
	program, dir, address := tools.Require(t, "haproxy"), t.TempDir(), process.Port(process.Address(), 8443)
	authority := certtest.New(t)
	cert, key := authority.Issue(dir, time.Now().Add(time.Hour), net.ParseIP(strings.Split(address, ":")[0]))
	pem, file := filepath.Join(dir, "plants.pem"), filepath.Join(dir, "haproxy.cfg")
	must.Do(t, os.WriteFile(pem, slices.Concat(must.Get(os.ReadFile(cert))(t), must.Get(os.ReadFile(key))(t)), 0o600))
	config := regexp.MustCompile(`(?m)^    server [bc] .*\n`).ReplaceAllString(string(tools.ProjectFile(t, "docs/deploy/haproxy.cfg")), "")
	config = strings.NewReplacer(append(replace, "bind :443", "bind "+address, "/etc/haproxy/plants.pem", pem)...).Replace(config)
	must.Do(t, os.WriteFile(file, []byte(config), 0o600))
	process.Start(t, dir, exec.CommandContext(context.Background(), program, "-db", "-f", file))
	process.AwaitPort(t, address)
	client := newClient(t, authority.Client(), "tcp", address)
	return func(token, plant string) plantstore.Reply {
		t.Helper()
		return must.Get(plantstore.Post(t.Context(), client, "https://"+address, token, plant))(t)
	}
}

// TestHAProxy checks that HAProxy passes creates over HTTP/2 on, and that the body of its own response
// is an Error if no server is ready.
func TestHAProxy(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{})
	base, admin := must.Get(url.Parse(server.BaseURL))(t), must.Get(url.Parse(server.AdminURL))(t)
	post := startHAProxy(t, "10.0.0.1:8080", base.Host, "port 8081", "port "+admin.Port())
	token := server.Token()
	if r := post(token, `{"id":1,"name":"fern"}`); r.Proto != "HTTP/2.0" || r.Status != http.StatusOK {
		t.Errorf("%+v, want 200 over HTTP/2.0", r)
	}
	server.Stop()
	const want = `{"error":503,"message":"the plant was not stored: no server is ready; try again later"}`
	if r := post(token, `{"id":2,"name":"fern"}`); r.Status != http.StatusServiceUnavailable || r.Body != want {
		t.Errorf("%+v, want 503 %s", r, want)
	}
}

// TestHAProxyDoesNotKnow checks that the body of HAProxy's own response is the Error of an unknown
// outcome if a server that got the plant does not respond. Over HTTP/2, HAProxy resets the stream of a
// server that has ended, and the client repeats the request.
func TestHAProxyDoesNotKnow(t *testing.T) {
	t.Parallel()
	for status, serve := range map[int]func(net.Conn){
		http.StatusBadGateway:     func(c net.Conn) { _, _ = c.Read(make([]byte, 64<<10)); _ = c.Close() },
		http.StatusGatewayTimeout: func(c net.Conn) { _, _ = io.Copy(io.Discard, c) },
	} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			t.Parallel()
			listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
			t.Cleanup(func() { _ = listener.Close() })
			go func() {
				for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
					go serve(conn)
				}
			}()
			post := startHAProxy(t, "10.0.0.1:8080", listener.Addr().String(), "default-server check port 8081", "default-server",
				"timeout server 40s", "timeout server 1s", "alpn h2,http/1.1", "alpn http/1.1")
			r := post("x", `{"id":1,"name":"fern"}`)
			if r.Status != status || r.Code != http.StatusInternalServerError || !strings.HasPrefix(r.Message, "the outcome is unknown; send the plant again") {
				t.Errorf("%+v, want %d with error 500", r, status)
			}
		})
	}
}
