package cli_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestHealthOfOthers checks that health over a network prints why a server is not ready, and distinguishes
// plant stores from other servers.
func TestHealthOfOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status     int
		body, want string
	}{
		{400, `{"error":503,"message":"not ready: it rains"}`, "not ready: it rains"},
		{404, "404 page not found", "the server at URL responds with 404 Not Found"},
		{400, `{"error":503}`, "the server at URL responds with 400 Bad Request"},
		{400, strings.Repeat(" ", 1<<20), "the server at URL responds with 400 Bad Request"},
	} {
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/readyz" {
				t.Errorf("it requests %s", r.URL.Path)
			}
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}))
		defer other.Close()
		r := run(t, []string{"STORAGE_URL=network://127.0.0.1:1/plants", "ADMIN_ADDR=" + strings.TrimPrefix(other.URL, "http://")}, "health")
		checkFailure(t, r, 1, strings.ReplaceAll(test.want, "URL", other.URL))
	}
}
