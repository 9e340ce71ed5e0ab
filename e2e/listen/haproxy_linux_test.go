package listen

import (
	"context"
	"io"
	"net"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"plantstore/e2e/internal/haproxy"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/internal/must"
	"plantstore/models"
)

// clientsOf returns clients of a proxy by their protocol.
func clientsOf(t *testing.T, proxy *haproxy.Proxy) map[string]*http.Client {
	t.Helper()
	two := plantstore.NewTLSClient(t, proxy.TLS.Clone()) // which adds h2 to it
	two.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	return map[string]*http.Client{"HTTP/1.1": plantstore.NewTLSClient(t, proxy.TLS), "HTTP/2.0": two}
}

// wantError checks a response of HAProxy itself.
func wantError(t *testing.T, r plantstore.Reply, code models.Code, message string) {
	t.Helper()
	if r.Status != http.StatusBadRequest || r.Code != code || !strings.HasPrefix(r.Message, message) || !strings.HasSuffix(r.Body, "}\n") ||
		r.Header.Get("Content-Type") != "application/json" || r.Header.Get("X-Request-Id") == "" || r.Header.Get("X-Content-Type-Options") != "nosniff" ||
		(r.Header.Get("Retry-After") != "") != (code == models.CodeUnavailable) {
		t.Errorf("%+v, want an Error with status 400, error %d and %q", r, code, message)
	}
}

// TestHAProxy checks that HAProxy passes creates on, even if another server refuses connections, that its
// log has the client's address and the request id that the server logs, and that it responds with an Error
// after the server was killed.
func TestHAProxy(t *testing.T) {
	t.Parallel()
	host, other := process.Address(), process.Address()
	ready := accept(t, other+":8081", serveReady)
	server := plantstore.Start(t, plantstore.Options{Env: []string{"ADDR=" + host + ":8080", "ADMIN_ADDR=" + host + ":8081"}})
	proxy := haproxy.StartShipped(t, host, "10.0.0.2", other)
	token, clients := server.Token(), clientsOf(t, proxy)
	post := func(client *http.Client, plant string) plantstore.Reply {
		t.Helper()
		return must.Get(plantstore.Do(t.Context(), client, http.MethodPost, "https://"+proxy.Address+"/plants?secret", plant,
			"Authorization", "Bearer "+token, "Content-Type", "application/json", "X-Request-Id", "mine"))(t)
	}
	for protocol, client := range clients {
		r := post(client, `{"id":`+protocol[5:6]+`,"name":"fern"}`)
		if r.Proto != protocol || r.Status != http.StatusOK {
			t.Errorf("%+v, want 200 over %s", r, protocol)
		}
		id := r.Header.Get("X-Request-Id")
		server.AwaitLog(`"request_id":"` + id + `"`)
		line := regexp.MustCompile(`(?m)^127\.0\.0\.1:\d+ ` + id + ` POST /plants 200 \d+ a$`)
		plantstore.Await(t, "HAProxy logs "+id, func() bool { return line.MatchString(proxy.Log(t)) })
	}
	must.Do(t, ready.Close())
	server.Kill()
	plantstore.Await(t, "HAProxy finds no server", func() bool { return strings.Contains(proxy.Log(t), "has no server available") })
	for _, client := range clients {
		wantError(t, post(client, `{"id":3,"name":"fern"}`), models.CodeUnavailable, "the plant was not stored: no server is ready")
	}
}

// TestHAProxyDoesNotKnow checks that HAProxy responds with the Error of an unknown outcome if a server that
// got the plant ends or does not respond. Over HTTP/2, HAProxy resets the stream of a server that has ended.
func TestHAProxyDoesNotKnow(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		serve     func(net.Conn)
		protocols []string
	}{
		"ended": {func(c net.Conn) { _, _ = c.Read(make([]byte, 64<<10)); _ = c.Close() }, []string{"HTTP/1.1"}},
		"hangs": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, []string{"HTTP/1.1", "HTTP/2.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := process.Address()
			accept(t, host+":8080", tt.serve)
			accept(t, host+":8081", serveReady)
			proxy := haproxy.StartShipped(t, host, "timeout server 40s", "timeout server 1s")
			for _, protocol := range tt.protocols {
				r := must.Get(plantstore.Post(t.Context(), clientsOf(t, proxy)[protocol], "https://"+proxy.Address, "x", `{"id":1,"name":"fern"}`))(t)
				wantError(t, r, models.CodeInternal, "the outcome is unknown; send the plant again")
			}
		})
	}
}

// serveReady responds to a probe of a server that is ready.
func serveReady(c net.Conn) {
	_, _ = c.Read(make([]byte, 64<<10)) // HAProxy notices if this fails
	_, _ = io.WriteString(c, "HTTP/1.0 200 OK\r\n\r\n")
	_ = c.Close()
}

// accept serves connections to an address until the end of the test.
func accept(t *testing.T, address string, serve func(net.Conn)) net.Listener {
	t.Helper()
	listener := must.Get(new(net.ListenConfig).Listen(context.Background(), "tcp", address))(t)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			go serve(conn)
		}
	}()
	return listener
}
