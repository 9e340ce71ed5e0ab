package cli_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
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
