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

// TestServerKeepsLimits checks that each limit of the configuration is the server's. The waits
// end by the limit under test, since all others are far longer.
func TestServerKeepsLimits(t *testing.T) {
	long := []string{"REQUEST_TIMEOUT=1h", "SHUTDOWN_TIMEOUT=1h", "JWT_SECRET=" + secret}
	const half = "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\nAuthorization: Bearer "
	tests := map[string]struct {
		args []string
		sent string
		want int // the number of the Error; 0: the connection is closed
	}{
		"request": {[]string{"--request-timeout=100ms"}, half + token(t, long) + "\r\n\r\n{", 408},
		"body":    {[]string{"--max-body-bytes=98"}, half + token(t, long) + "\r\n\r\n{", 413},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			base := startServer(t, "plantstore", long, test.args...).ready(t).BaseURL
			if got := errorOf(t, base, test.sent); got != test.want {
				t.Errorf("the response is error %d, want %d", got, test.want)
			}
		})
	}
}

// TestServerKeepsMaxConnections checks that a connection beyond the limit gets an Error.
func TestServerKeepsMaxConnections(t *testing.T) {
	t.Chdir(t.TempDir())
	base := startServer(t, "plantstore", nil, "--max-connections=1").ready(t).BaseURL
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://")))(t)
	defer conn.Close()
	if got := errorOf(t, base, "GET / HTTP/1.1\r\nHost: x\r\n\r\n"); got != 503 {
		t.Errorf("the response is error %d, want 503", got)
	}
}

// errorOf sends bytes and returns the code of the Error in the last response before the
// connection is closed, or 0.
func errorOf(t *testing.T, base, sent string) int {
	t.Helper()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(base, "http://")))(t)
	defer conn.Close()
	must.Do(t, conn.SetDeadline(time.Now().Add(patience)))
	fmt.Fprint(conn, sent)
	responses := bufio.NewReader(conn)
	response := must.Get(http.ReadResponse(responses, nil))(t)
	defer response.Body.Close()
	var failure struct{ Error int }
	must.Do(t, json.NewDecoder(response.Body).Decode(&failure))
	if failure.Error == 0 {
		if _, err := responses.Peek(responses.Buffered() + 1); err == nil || strings.Contains(err.Error(), "timeout") {
			t.Errorf("the connection is not closed: %v", err)
		}
	}
	return failure.Error
}

// TestShutdownTimeout checks that requests that do not end within the shutdown timeout are
// aborted, which is logged, and the exit code is 0.
func TestShutdownTimeout(t *testing.T) {
	t.Chdir(t.TempDir())
	s := startServer(t, "plantstore", nil, "--shutdown-timeout=50ms", "--request-timeout=1h")
	sendHeader(t, s)
	metrics := s.ready(t).AdminURL + "/metrics"
	for end := time.Now().Add(patience); !strings.Contains(get(t, metrics), "\nplantstore_token_cache_misses_total 1\n"); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the handler does not get the request")
		}
	}
	if code := s.stop(); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if log := s.log(); !strings.Contains(log, `"msg":"shutdown timeout: closing connections with requests in progress","connections":1`) {
		t.Errorf("the log is:\n%s", log)
	}
}

// sendHeader sends the header of a create, without its body.
func sendHeader(t *testing.T, s server) {
	t.Helper()
	conn := must.Get(new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.ready(t).BaseURL, "http://")))(t)
	t.Cleanup(func() { _ = conn.Close() })
	fmt.Fprintf(conn, "POST /plants HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9\r\n"+
		"Authorization: Bearer %s\r\n\r\n", token(t, nil))
}

// get returns the text at a URL.
func get(t *testing.T, url string) string {
	t.Helper()
	r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, url, http.NoBody))(t)
	_, text := roundTrip(t, r)
	return text
}

// TestServerShowsDocs checks that the page can be disabled, and then its path is unknown.
func TestServerShowsDocs(t *testing.T) {
	t.Chdir(t.TempDir())
	for setting, want := range map[string]int{"on": http.StatusOK, "off": http.StatusBadRequest} {
		base := startServer(t, "plantstore", []string{"DOCS=" + setting}, "--storage-url", setting+".db").ready(t).BaseURL
		r := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/docs", http.NoBody))(t)
		response := must.Get(http.DefaultClient.Do(r))(t)
		_ = response.Body.Close()
		if response.StatusCode != want {
			t.Errorf("DOCS=%s: status %d, want %d", setting, response.StatusCode, want)
		}
	}
}

// TestServerDescribesItself checks that a server whose clients may be on other machines describes
// itself by the Host of the request, unless BASE_URL is set.
func TestServerDescribesItself(t *testing.T) {
	t.Chdir(t.TempDir())
	const local = "http://HOST:PORT" // the base URL at the start
	everywhere, ephemeral := []string{"--addr", "0.0.0.0:0"}, []string{"--ephemeral"}
	for name, tt := range map[string]struct {
		args        []string
		host, proto string
		want        string
	}{
		"name":            {everywhere, "plants.lan:8080", "", "http://plants.lan:8080"},
		"address":         {ephemeral, "192.0.2.7:9000", "", "http://192.0.2.7:9000"},
		"IPv6":            {ephemeral, "[2001:db8::7]", "", "http://[2001:db8::7]"},
		"proxy with TLS":  {everywhere, "plants.example", "https", "https://plants.example"},
		"not an address":  {ephemeral, "[::1::2]", "", local},
		"a user":          {ephemeral, "me@plants.lan", "", local},
		"not a name":      {ephemeral, "a+b", "", local},
		"too long":        {ephemeral, strings.Repeat("a", 256), "", local},
		"on one address":  {nil, "plants.lan", "https", local},
		"with a base URL": {append(ephemeral, "--base-url", "https://plants.test/api"), "plants.lan", "", "https://plants.test/api"},
	} {
		t.Run(name, func(t *testing.T) {
			ready := startServer(t, "plantstore", nil, tt.args...).ready(t)
			_, port, _ := net.SplitHostPort(ready.Addr)
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1:"+port+"/openapi.json", http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			r.Host = tt.host
			r.Header.Set("X-Forwarded-Proto", tt.proto)
			_, description := roundTrip(t, r)
			if want := strings.ReplaceAll(tt.want, local, ready.BaseURL); !strings.Contains(description, `"url": "`+want+`"`) {
				t.Errorf("the server is not at %s in %.400s", want, description)
			}
		})
	}
}
