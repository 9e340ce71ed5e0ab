package attack

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// startHAProxy starts HAProxy in front of a server, with further options. Every request that it
// sends has User-Agent: front and an X-Request-Id, which it repeats in X-Sent of the response.
func startHAProxy(t *testing.T, s *plantstore.Server, options string) (address string) {
	t.Helper()
	program := tools.Require(t, "haproxy")
	address = process.Port(process.Address(), 8080)
	file := filepath.Join(t.TempDir(), "haproxy.cfg")
	config := fmt.Sprintf(`defaults
    mode http
    timeout connect 10s
    timeout client 2s
    timeout server 10s
    unique-id-format %%[uuid()]
frontend front
    bind %s
    %s
    http-request set-header User-Agent front
    http-request set-header X-Request-Id %%[unique-id]
    http-response set-header X-Sent %%[unique-id]
    default_backend back
backend back
    http-reuse always
    server plants %s
`, address, options, strings.TrimPrefix(s.BaseURL, "http://"))
	must.Do(t, os.WriteFile(file, []byte(config), 0o600))
	process.Start(t, filepath.Dir(file), exec.CommandContext(context.Background(), program, "-db", "-f", file))
	process.AwaitPort(t, address)
	return address
}

// oddRequests are requests whose end, or whose header, a proxy and a server may interpret
// differently. Each is followed by one that hides in its body for one of them.
func oddRequests() (all []string) {
	const hidden = "POST /hidden HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n"
	length := fmt.Sprint("Content-Length: ", len(hidden))
	for _, line := range []string{
		"POST /plants HTTP/1.1", "GET /docs HTTP/1.1", "POST /plants HTTP/1.0", "POST /plants HTTP/1.2", "HEAD /plants HTTP/1.1",
		"PRI * HTTP/2.0", "CONNECT x:80 HTTP/1.1", "OPTIONS * HTTP/1.1",
	} {
		for _, lines := range []string{
			length, "Content-Length: 0", "Content-Length: 5\r\n" + length, length + "\r\nTransfer-Encoding: chunked",
			"Transfer-Encoding: chunked\r\n" + length, "Transfer-Encoding: chunked", "Transfer-Encoding:\r\n chunked\r\n" + length,
			"X: a\r\n Transfer-Encoding: chunked\r\n" + length, "Content-Length:\r\n 0", "Transfer-Encoding : chunked\r\n" + length,
			"Transfer-Encoding: identity\r\n" + length, "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: xchunked\r\n" + length,
			"Transfer-Encoding:\tchunked\r\n" + length, "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", "Transfer_Encoding: chunked\r\n" + length,
			"Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked", "Connection: Content-Length\r\n" + length, "Connection: keep-alive\r\n" + length,
			"Content-Length: +0", "Content-Length: 0x0", "Content-Length : 0", "Content-Length: 0\nX: y", "Expect: 100-continue\r\n" + length,
			"Expect: 100-continue, x\r\n" + length, "Expect: x\r\n" + length, "Upgrade: h2c\r\nConnection: Upgrade\r\n" + length, "X: \x01\r\n" + length,
		} {
			for _, body := range []string{"", "0\r\n\r\n"} {
				all = append(all, line+"\r\nHost: x\r\n"+lines+"\r\n\r\n"+body+hidden)
			}
		}
	}
	return all
}

// TestBehindHAProxy sends odd requests through HAProxy, which refuses many of them, or, in the
// second case, few. The server gets no request that HAProxy has not sent, each response belongs
// to its request, and the server's status is always one of the contract.
func TestBehindHAProxy(t *testing.T) {
	t.Parallel()
	for name, options := range map[string]string{"strict": "", "lax": "option accept-invalid-http-request"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=debug"}})
			address := startHAProxy(t, s, options)
			all := oddRequests()
			for _, request := range all {
				passOdd(t, address, request)
			}
			sent := regexp.MustCompile(`"user_agent":"([^"]*)"`).FindAllStringSubmatch(s.Log(), -1)
			for _, agent := range sent {
				if agent[1] != "front" {
					t.Errorf("the server has got a request that HAProxy has not sent, with User-Agent %q", agent[1])
				}
			}
			t.Logf("%d odd requests, %d handled", len(all), len(sent))
			if len(sent) < 100 {
				t.Error("hardly any request has come to a handler")
			}
		})
	}
}

// passOdd sends a request, and checks the responses of the server until the connection closes.
func passOdd(t *testing.T, address, request string) {
	t.Helper()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", address))(t)
	defer func() { _ = conn.Close() }()
	_, _ = io.WriteString(conn, request) // HAProxy may have closed it already
	if half, ok := conn.(*net.TCPConn); ok {
		_ = half.CloseWrite()
	}
	_ = conn.SetReadDeadline(time.Now().Add(patience)) // if it fails, so does Read
	text, _ := io.ReadAll(conn)                        // it may be reset
	for _, response := range regexp.MustCompile(`(?s)HTTP/1\.\d (\d+).*?\r\n\r\n`).FindAllStringSubmatch(string(text), -1) {
		id, sent := field(response[0], "x-request-id"), field(response[0], "x-sent")
		switch {
		case id == "": // of HAProxy itself, or an interim response
		case id != sent && (field(response[0], "connection") == "keep-alive" || !regexp.MustCompile(`^[A-Z2-7]{26}$`).MatchString(id)):
			t.Errorf("%q: the response with id %q belongs to another request than %q", request, id, sent)
		case response[1] != fmt.Sprint(http.StatusOK) && response[1] != fmt.Sprint(http.StatusBadRequest):
			t.Errorf("%q: status %s", request, response[1])
		}
	}
}

// field returns a header field of a response.
func field(header, name string) string {
	if m := regexp.MustCompile(`(?im)^` + name + `: ([^\r]*)`).FindStringSubmatch(header); m != nil {
		return m[1]
	}
	return ""
}
