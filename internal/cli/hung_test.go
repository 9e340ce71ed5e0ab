package cli_test

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"

	"plantstore/internal/must"
	"plantstore/internal/operate"
)

// TestHungServerIsQueriedOnce checks that a command queries a server that hangs, or is stopped,
// only once, since each query waits for a response.
func TestHungServerIsQueriedOnce(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "plants.db")
	var queries atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		queries.Add(1)
		<-r.Context().Done()
	}))
	_ = server.Listener.Close()
	server.Listener = must.Get(operate.Listen(t.Context(), path))(t)
	server.Start()
	defer server.Close()
	checkFailure(t, run(t, nil, "plants", "count", "--storage-url", "bbolt:"+path), 1,
		"the server on "+path+" is starting, or does not respond: try again when it is ready: context deadline exceeded")
	if n := queries.Load(); n != 1 {
		t.Errorf("the server was queried %d times, want once", n)
	}
}
