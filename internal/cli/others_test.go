package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"plantstore/internal/cli"
	"plantstore/internal/must"
	"plantstore/internal/operate"
)

// hungServer starts a server of a database that hangs, or is stopped. It returns the path of the database and a
// channel that gets each query.
func hungServer(t *testing.T) (path string, queries chan string) {
	t.Helper()
	path, queries = filepath.Join(t.TempDir(), "plants.db"), make(chan string, 10)
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		queries <- r.URL.Path
		<-r.Context().Done()
	}))
	_ = server.Listener.Close()
	server.Listener = must.Get(operate.Listen(t.Context(), path))(t)
	server.Start()
	t.Cleanup(server.Close)
	return path, queries
}

// TestHungServerIsQueriedOnce checks that a command queries a server that hangs only once, since each query
// waits for a response.
func TestHungServerIsQueriedOnce(t *testing.T) {
	t.Parallel()
	path, queries := hungServer(t)
	checkFailure(t, run(t, nil, "plants", "count", "--storage-url", "bbolt:"+path), 1,
		"the server on "+path+" is starting, or does not respond: try again when it is ready: context deadline exceeded")
	if n := len(queries); n != 1 {
		t.Errorf("the server was queried %d times, want once", n)
	}
}

// TestInterruptedQuery checks that Ctrl-C is the end of requests --follow, and not a failure, also before the
// server has responded, and a failure of other commands.
func TestInterruptedQuery(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]int{"requests --follow": 0, "requests": 1} {
		path, queries := hungServer(t)
		ctx, interrupt := context.WithCancel(t.Context())
		go func() {
			<-queries
			interrupt()
		}()
		var stderr strings.Builder
		code := runProcess(ctx, cli.Process{Stdout: io.Discard, Stderr: &stderr}, append(strings.Fields(command), "--storage-url", "bbolt:"+path)...)
		if code != want || want == 0 && stderr.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d: %s", command, code, want, &stderr)
		}
	}
}

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

// TestConformanceInterrupted checks that an interrupted command prints the report of what was run.
func TestConformanceInterrupted(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if seen.Add(1) > 1 { // after the probe
			interrupt()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(s.Close)
	var stdout, stderr strings.Builder
	code := runProcess(ctx, cli.Process{Stdout: &stdout, Stderr: &stderr}, "conformance", "--url", s.URL, "--token", "t", "--rule", "C2.12")
	if want := ":    0 passed   0 failed"; code != 1 || stderr.String() != "plantstore: interrupted\n" || !strings.Contains(stdout.String(), want) {
		t.Errorf("exit code %d, want 1; stderr %q; the report lacks %q:\n%s", code, &stderr, want, &stdout)
	}
}
