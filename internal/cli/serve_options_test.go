package cli_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"plantstore/internal/must"
)

// half is the header of a create with a token, and the beginning of its body.
const half = "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\nAuthorization: Bearer %s\r\n\r\n{"

// dial connects to a server.
func dial(t *testing.T, base string) net.Conn {
	t.Helper()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://")))(t)
	t.Cleanup(func() { _ = conn.Close() })
	must.Do(t, conn.SetDeadline(time.Now().Add(patience)))
	return conn
}

// errorOf sends bytes and returns the code of the Error in the response, or 0.
func errorOf(t *testing.T, base, sent string) int {
	t.Helper()
	conn := dial(t, base)
	defer conn.Close()
	fmt.Fprint(conn, sent)
	response := must.Get(http.ReadResponse(bufio.NewReader(conn), nil))(t)
	defer response.Body.Close()
	var failure struct{ Error int }
	must.Do(t, json.NewDecoder(response.Body).Decode(&failure))
	return failure.Error
}

// get returns the text at a URL.
func get(t *testing.T, url string) string {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
	_, text := roundTrip(t, r)
	return text
}

// TestRequestTimeout checks that the wait for a body ends by REQUEST_TIMEOUT, since it is far shorter than all others.
func TestRequestTimeout(t *testing.T) {
	t.Chdir(t.TempDir())
	base := startServer(t, []string{"SHUTDOWN_TIMEOUT=1h"}, "--request-timeout=100ms").ready(t).BaseURL
	if got := errorOf(t, base, fmt.Sprintf(half, token(t, nil))); got != http.StatusRequestTimeout {
		t.Errorf("the response is error %d, want 408", got)
	}
}

// TestShutdownTimeout checks that a connection beyond MAX_CONNECTIONS gets an Error, and that requests that do not
// end within SHUTDOWN_TIMEOUT after SHUTDOWN_DELAY are aborted, which is logged, and the exit code is 0.
func TestShutdownTimeout(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startServer(t, []string{"REQUEST_TIMEOUT=1h", "SHUTDOWN_DELAY=10ms"}, "--max-connections=1", "--shutdown-timeout=50ms")
	ready := s.ready(t)
	fmt.Fprintf(dial(t, ready.BaseURL), half, token(t, nil))
	await(t, "the handler gets the request", func() bool {
		return strings.Contains(get(t, ready.AdminURL+"/metrics"), "\nplantstore_token_cache_misses_total 1\n")
	})
	if got := errorOf(t, ready.BaseURL, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); got != http.StatusServiceUnavailable {
		t.Errorf("the response on another connection is error %d, want 503", got)
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	log := s.log()
	for _, want := range []string{
		`"msg":"shutting down: not ready, still serving","delay":"10ms"`, `"msg":"shutting down: draining requests"`,
		`"msg":"shutdown timeout: closing connections with requests in progress","connections":1`,
	} {
		before, after, found := strings.Cut(log, want)
		if log = after; !found {
			t.Errorf("the log lacks %s after\n%s", want, before)
		}
	}
}

// TestServerDescribesItself checks that a server whose clients may be on other machines describes
// itself by the Host of the request, unless BASE_URL is set, and that its page can be disabled.
func TestServerDescribesItself(t *testing.T) {
	t.Chdir(t.TempDir())
	const (
		local     = "http://HOST:PORT"      // the base URL at the start
		byDefault = "http://127.0.0.1:8080" // for a Host that is neither a name nor an address
	)
	for args, requests := range map[string][]struct{ host, proto, want string }{
		"--addr=0.0.0.0:0": {
			{"plants.lan:8080", "", "http://plants.lan:8080"},
			{"plants.example", "https", "https://plants.example"},
		},
		"--ephemeral": {
			{"192.0.2.7:9000", "", "http://192.0.2.7:9000"},
			{"[2001:db8::7]", "", "http://[2001:db8::7]"},
			{"[::1::2]", "", byDefault},
			{"me@plants.lan", "", byDefault},
			{"a+b", "", byDefault},
			{strings.Repeat("a", 256), "", byDefault},
		},
		"--docs=off": {{"plants.lan", "https", local}},
		"--ephemeral --base-url=https://plants.test/api": {{"plants.lan", "", "https://plants.test/api"}},
	} {
		s := startServer(t, nil, strings.Fields(args)...)
		ready := s.ready(t)
		_, port, _ := net.SplitHostPort(ready.Addr)
		ask := func(path, host, proto string) (int, string) {
			r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+path, http.NoBody))(t)
			r.Host = host
			r.Header.Set("X-Forwarded-Proto", proto)
			return roundTrip(t, r)
		}
		for _, r := range requests {
			_, description := ask("/openapi.json", r.host, r.proto)
			if want := strings.ReplaceAll(r.want, local, ready.BaseURL); !strings.Contains(description, `"url": "`+want+`"`) {
				t.Errorf("%s, asked at %s: the server is not at %s in %.400s", args, r.host, want, description)
			}
		}
		if status, _ := ask("/docs", "localhost", ""); (status == http.StatusOK) != (args != "--docs=off") {
			t.Errorf("%s: the status of /docs is %d", args, status)
		}
		s.stop()
	}
}
