package cli_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func TestHealth(t *testing.T) {
	t.Chdir(t.TempDir())
	addr := strings.TrimPrefix(startServer(t, "plantstore", nil).ready(t).AdminURL, "http://")
	if printed := output(t, nil, "health", "--admin-addr", addr); printed != "" {
		t.Errorf("it prints %q, want no output", printed)
	}
}

// TestHealthOfDatabase checks that without an address, health queries the server that runs on
// the database, even if that has chosen its port itself, and explains why there is no admin
// listener.
func TestHealthOfDatabase(t *testing.T) {
	t.Chdir(t.TempDir())
	server := startServer(t, "plantstore", nil, "--admin-addr", "127.0.0.1:0")
	server.ready(t)
	output(t, nil, "health")
	server.stop()
	startServer(t, "plantstore", nil, "--admin-addr", "off").ready(t)
	checkFailure(t, run(t, nil, "health"), 1,
		"the server that runs on data/plants.db has no admin listener: ADMIN_ADDR is off; restart it with another --admin-addr")
}

// TestHealthOfAllAddresses checks that health queries a server that listens on all addresses on
// this machine.
func TestHealthOfAllAddresses(t *testing.T) {
	t.Chdir(t.TempDir())
	url := startServer(t, "plantstore", nil, "--admin-addr", ":0").ready(t).AdminURL
	_, port, _ := strings.Cut(strings.TrimPrefix(url, "http://"), ":")
	for _, environ := range []string{"ADMIN_ADDR=0.0.0.0:" + port, "ADMIN_ADDR=:" + port} {
		output(t, []string{environ}, "health")
	}
}

func TestHealthWithoutServer(t *testing.T) {
	t.Parallel()
	free, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	_ = free.Close()
	checkFailure(t, run(t, nil, "health", "--admin-addr", addr), 1, "the server at http://"+addr+" does not respond: *")
}

// TestHealthOfWrongAddresses checks that an address that cannot be an admin listener is invalid
// usage, with the right one as a hint.
func TestHealthOfWrongAddresses(t *testing.T) {
	t.Chdir(t.TempDir())
	clients := startServer(t, "plantstore", nil).ready(t).BaseURL
	secure := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":400,"message":"this port uses TLS"}`)
	}))
	t.Cleanup(secure.Close)
	const forClients = " is the address for clients: name the admin listener with --admin-addr or ADMIN_ADDR"
	const none = ": name the admin listener, admin_url in the server's ready record, with --admin-addr"
	for addr, want := range map[string]string{
		"off":                                  "ADMIN_ADDR is off" + none,
		"127.0.0.1:0":                          "ADMIN_ADDR is 127.0.0.1:0" + none,
		":00":                                  "ADMIN_ADDR is :00" + none,
		strings.TrimPrefix(clients, "http://"): clients + forClients,
		strings.TrimPrefix(secure.URL, "http://"): secure.URL + forClients,
	} {
		checkFailure(t, run(t, nil, "health", "--admin-addr", addr), 2, want)
	}
}

// TestHealthOfServersThatAreNot checks that health prints the message of a server that is not
// ready, and distinguishes plant stores from other servers.
func TestHealthOfServersThatAreNot(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		want   string // after the URL, unless it is the message
	}{
		"not ready":      {400, `{"error":503,"message":"not ready: it rains"}`, "not ready: it rains"},
		"another one":    {404, "404 page not found", "404 Not Found"},
		"an odd one":     {400, `{"error":503}`, "400 Bad Request"},
		"an endless one": {400, strings.Repeat(" ", 1<<20), "400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("it requests %s", r.URL.Path)
				}
				w.WriteHeader(test.status)
				_, _ = w.Write([]byte(test.body))
			}))
			defer other.Close()
			want := test.want
			if name != "not ready" {
				want = "the server at " + other.URL + " responds with " + want
			}
			checkFailure(t, run(t, nil, "health", "--admin-addr", strings.TrimPrefix(other.URL, "http://")), 1, want)
		})
	}
}
