package wrk

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/tools"
)

// TestPaced checks that a paced shot reports each full second, and a pause in which no client
// received a response.
func TestPaced(t *testing.T) {
	t.Parallel()
	tools.Require(t, "wrk")
	const pause = 300 * time.Millisecond
	tokens := filepath.Join(t.TempDir(), "tokens")
	if err := os.WriteFile(tokens, []byte("token\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var requests atomic.Int64
	var all sync.RWMutex // of all handlers
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if requests.Add(1) == 100 {
			all.Lock()
			time.Sleep(pause) // the measured pause
			all.Unlock()
			return
		}
		all.RLock()
		defer all.RUnlock()
	}))
	defer server.Close()
	shot := Shot{
		Addr: strings.TrimPrefix(server.URL, "http://"), Clients: 4, Order: Ascending, Tokens: tokens, Duration: 2 * time.Second,
	}
	r, err := Fire(t.Context(), shot)
	if err != nil || r.Pause != 0 || r.Seconds != nil {
		t.Errorf("not paced: %+v, %v", r, err)
	}
	requests.Store(0)
	shot.Paced = true
	r, err = Fire(t.Context(), shot)
	if err != nil || len(r.Seconds) < 2 || slices.Min(r.Seconds) < 1 {
		t.Errorf("paced: %+v, %v", r, err)
	}
	if got := time.Duration(r.Pause) * time.Microsecond; got < pause {
		t.Errorf("longest pause %v, want at least %v", got, pause)
	}
}
