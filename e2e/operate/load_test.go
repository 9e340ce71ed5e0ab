// Package operate tests the operator's commands next to a server under load, and the files after
// a command was killed.
package operate

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// A load is a group of clients that create plants as fast as they can.
type load struct {
	created      atomic.Int64 // number of creates with status 200
	stop         context.CancelFunc
	wg           sync.WaitGroup
	mu           sync.Mutex
	acknowledged []int64 // their ids, if keep is set
}

// loadClients is the number of clients of a load.
const loadClients = 32

// startLoad starts clients of the server, which create plants with ascending ids from first on
// until the load is stopped.
func startLoad(t testing.TB, server *plantstore.Server, first int64, keep bool) *load {
	t.Helper()
	token := server.Token()
	transport := &http.Transport{MaxIdleConnsPerHost: loadClients}
	ctx, cancel := context.WithCancel(context.Background())
	l := &load{stop: cancel}
	var next atomic.Int64
	next.Store(first)
	for range loadClients {
		l.wg.Go(func() {
			for ctx.Err() == nil {
				id := next.Add(1) - 1
				if !create(ctx, transport, server.BaseURL, token, id) {
					continue
				}
				l.created.Add(1)
				if keep {
					l.mu.Lock()
					l.acknowledged = append(l.acknowledged, id)
					l.mu.Unlock()
				}
			}
		})
	}
	t.Cleanup(func() {
		l.end()
		transport.CloseIdleConnections()
	})
	return l
}

// end stops the clients and waits for them.
func (l *load) end() {
	l.stop()
	l.wg.Wait()
}

// ids returns the ids that were acknowledged so far.
func (l *load) ids() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.acknowledged)
}

// create sends a plant and reports whether the response is 200.
func create(ctx context.Context, transport http.RoundTripper, baseURL, token string, id int64) bool {
	body := fmt.Sprintf(`{"id":%d,"name":"Monstera number %d"}`, id, id)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, baseURL+"/plants", strings.NewReader(body))
	if err != nil {
		return false
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	response, err := transport.RoundTrip(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err == nil && response.StatusCode == http.StatusOK
}

// await waits until a condition holds.
func await(t testing.TB, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not within %v", condition, patience)
}

// writePlants writes a file with n plants, the ids from 0 on.
func writePlants(t testing.TB, n int) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "plants.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriter(file)
	for id := range n {
		fmt.Fprintf(out, "{\"id\":%d,\"name\":\"Echeveria, number %d of the bulk\",\"tag\":\"succulent\"}\n", id, id)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a command of the program in the server's directory; it must succeed.
func run(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := plantstore.Command(t, dir, nil, args...).CombinedOutput()
	if err != nil {
		t.Fatalf("plantstore %q: %v\n%s", args, err, out)
	}
	return string(out)
}
