package attack

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/haproxy"
	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/internal/must"
	"plantstore/internal/operate"
)

// startHAProxy starts HAProxy in front of a server, with further options, and returns its URL. Every
// request that it sends has User-Agent: front and an X-Request-Id, which it repeats in X-Sent of the
// response.
func startHAProxy(t *testing.T, s *plantstore.Server, options string) (url string) {
	t.Helper()
	address := process.Port(process.Address(), 8080)
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
	haproxy.Start(t, config, address)
	return "http://" + address
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
			"Transfer-Encoding:\tchunked\r\n" + length, "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity",
			"Transfer_Encoding: chunked\r\n" + length, "Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked",
			"Connection: Content-Length\r\n" + length, "Connection: keep-alive\r\n" + length, "Content-Length: +0", "Content-Length: 0x0",
			"Content-Length : 0", "Content-Length: 0\nX: y", "Expect: 100-continue\r\n" + length, "Expect: 100-continue, x\r\n" + length,
			"Expect: x\r\n" + length, "Upgrade: h2c\r\nConnection: Upgrade\r\n" + length, "X: \x01\r\n" + length,
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
			url, all := startHAProxy(t, s, options), oddRequests()
			for _, request := range all {
				passOdd(t, url, request)
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
func passOdd(t *testing.T, url, request string) {
	t.Helper()
	c := plantstore.Dial(t, url)
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, request) // HAProxy may have closed it already
	_ = c.Conn.(*net.TCPConn).CloseWrite()
	text, _ := io.ReadAll(c.In) // it may be reset
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

// TestSignalEndsSilentPeer checks that SIGTERM and SIGINT end a command that waits for a server that
// accepts connections and sends nothing.
func TestSignalEndsSilentPeer(t *testing.T) {
	t.Parallel()
	peer := must.Get(net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)}))(t)
	t.Cleanup(func() { _ = peer.Close() })
	must.Do(t, peer.SetDeadline(time.Now().Add(plantstore.Patience)))
	for args, signal := range map[string]syscall.Signal{
		"conformance --url http://PEER --token x": syscall.SIGTERM, "serve --jwt-jwks-url http://PEER/jwks": syscall.SIGINT,
	} {
		args = strings.ReplaceAll(args, "PEER", peer.Addr().String())
		dir := t.TempDir()
		cmd := plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0", "JWT_SECRET=" + secret}, strings.Fields(args)...)
		running := process.Start(t, dir, cmd)
		c := must.Get(peer.Accept())(t)
		must.Get(http.ReadRequest(bufio.NewReader(c)))(t) // now the command waits for the response
		running.Stop(signal)
		out := must.Get(os.ReadFile(running.LogFile))(t)
		if code := cmd.ProcessState.ExitCode(); code != 1 || !strings.Contains(string(out), "interrupted") {
			t.Errorf("%s by %v: exit code %d\n%s", args, signal, code, out)
		}
	}
}

// TestEndlessControlSocket checks that a command reads a bounded number of bytes from a control
// socket that sends without end: as a response that is not a line, and as more lines than there
// are plants.
func TestEndlessControlSocket(t *testing.T) {
	t.Parallel()
	const most = 1<<20 + 1<<20 // bytes of a line, and of the buffers of the connection
	for _, piece := range []string{" ", "x", `"`, "[", "{}\n"} {
		dir := t.TempDir()
		var sent atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/info" && piece == "{}\n" {
				_, _ = io.WriteString(w, piece)
				return
			}
			for text := strings.Repeat(piece, 4<<10); ; {
				n, err := io.WriteString(w, text)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		}))
		_ = server.Listener.Close()
		must.Do(t, os.Mkdir(filepath.Join(dir, "data"), 0o700))
		server.Listener = must.Get(operate.Listen(t.Context(), filepath.Join(dir, "data", "plants.db")))(t)
		server.Start()
		cmd := plantstore.Command(t, dir, []string{"ADMIN_ADDR="}, "health") // of the server on the database
		if piece == "{}\n" {
			cmd = plantstore.Command(t, dir, nil, "plants", "import", "-")
			cmd.Stdin = strings.NewReader(strings.Repeat(`{"id":1,"name":"fern"}`+"\n", 100))
		}
		_, out := plantstore.Finish(t, cmd)
		server.Close()
		if n := sent.Load(); n == 0 || n > most {
			t.Errorf("%q: the command reads %d bytes, want at most %d:\n%s", piece, n, most, out)
		}
	}
}
