package cli_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"plantstore/internal/must"
)

// overNetwork is the environment of a command for a store that has no file.
func overNetwork(adminAddr string) []string {
	return []string{"STORAGE_URL=network://127.0.0.1:1/plants", "ADMIN_ADDR=" + adminAddr}
}

// TestHealthOverNetwork checks that health queries the admin listener if there is no database file,
// prints why a server is not ready, and distinguishes plant stores from other servers.
func TestHealthOverNetwork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		status int
		body   string
		code   int
		want   string // after the URL, unless it is the message
	}{
		"ready":          {200, `{"status":"ready"}`, 0, ""},
		"not ready":      {400, `{"error":503,"message":"not ready: it rains"}`, 1, "not ready: it rains"},
		"for clients":    {400, `{"error":404,"message":"there is nothing at this path"}`, 2, " is the address for clients: set ADMIN_ADDR to the admin listener"},
		"another one":    {404, "404 page not found", 1, " responds with 404 Not Found"},
		"an odd one":     {400, `{"error":503}`, 1, " responds with 400 Bad Request"},
		"an endless one": {400, strings.Repeat(" ", 1<<20), 1, " responds with 400 Bad Request"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/readyz" {
					t.Errorf("it requests %s", r.URL.Path)
				}
				w.WriteHeader(test.status)
				_, _ = io.WriteString(w, test.body)
			}))
			defer other.Close()
			r := run(t, overNetwork(strings.TrimPrefix(other.URL, "http://")), "health")
			want := strings.NewReplacer(" is the", other.URL+" is the", " responds", "the server at "+other.URL+" responds").Replace(test.want)
			if test.code == 0 {
				if r.code != 0 || r.stderr != "" {
					t.Errorf("health ends with %d: %s", r.code, r.stderr)
				}
				return
			}
			checkFailure(t, r, test.code, want)
		})
	}
}

func TestHealthOfWrongAddresses(t *testing.T) {
	t.Parallel()
	free := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	addr := free.Addr().String()
	_ = free.Close()
	checkFailure(t, run(t, overNetwork(addr), "health"), 1, "the server at http://"+addr+" does not respond: *")
	for _, addr := range []string{"off", "127.0.0.1:0", ":00"} {
		checkFailure(t, run(t, overNetwork(addr), "health"), 2, "ADMIN_ADDR is "+addr+": set it to the address of the admin listener")
	}
}
