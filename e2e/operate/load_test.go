// Package operate tests the operator's commands next to a server under load, and the files after
// a command was killed.
package operate

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

// patience bounds every wait; it is far above the usual duration.
const patience = 5 * time.Minute

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// A load is a group of clients that create plants as fast as they can, with ascending ids.
type load struct {
	url     string
	client  *http.Client
	token   atomic.Pointer[string]
	next    atomic.Int64   // id
	rounds  []atomic.Int64 // number of creates that each client has begun
	created atomic.Int64   // number of creates with status 200
	ended   atomic.Bool    // send no further request
	wg      sync.WaitGroup

	mu           sync.Mutex
	acknowledged []int64        // their ids
	failed       map[string]int // failed requests, by the reason
}

// startLoad starts clients, which create plants until the load is ended.
func startLoad(t testing.TB, url, token string, clients int) *load {
	t.Helper()
	l := &load{url: url, client: plantstore.NewClient(t), rounds: make([]atomic.Int64, clients), failed: map[string]int{}}
	l.token.Store(&token)
	for i := range l.rounds {
		l.wg.Go(func() {
			for !l.ended.Load() {
				l.rounds[i].Add(1)
				l.create()
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

// end lets all clients finish their requests.
func (l *load) end() {
	l.ended.Store(true)
	l.wg.Wait()
}

// create creates a plant and records the outcome.
func (l *load) create() {
	id := l.next.Add(1)
	r, err := createPlant(context.Background(), l.client, l.url, *l.token.Load(), id) // requests in progress are not canceled
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.failed[err.Error()]++
	case r.Status != http.StatusOK:
		l.failed[fmt.Sprintf("status %d: %s", r.Status, r.Body)]++
	default:
		l.created.Add(1)
		l.acknowledged = append(l.acknowledged, id)
	}
}

// ids returns the ids that were acknowledged so far.
func (l *load) ids() []int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clip(l.acknowledged)
}

// createPlant sends a plant with that id.
func createPlant(ctx context.Context, client *http.Client, url, token string, id int64) (plantstore.Reply, error) {
	return plantstore.Post(ctx, client, url, token, fmt.Sprintf(`{"id":%d,"name":"Monstera number %d"}`, id, id))
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
	file := must.Get(os.Create(path))(t)
	out := bufio.NewWriter(file)
	for id := range n {
		fmt.Fprintf(out, "{\"id\":%d,\"name\":\"Echeveria, number %d of the bulk\",\"tag\":\"succulent\"}\n", id, id)
	}
	must.Do(t, out.Flush())
	must.Do(t, file.Close())
	return path
}
