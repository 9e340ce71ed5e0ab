package overload

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// A rush is a group of clients that create plants until the server has exited.
type rush struct {
	*site

	next    atomic.Int64  // id
	warm    chan struct{} // gets one from each client that has received a response
	sending sync.RWMutex  // held by clients while they send a request
	stopped bool          // SIGTERM was sent; sending guards it

	mu           sync.Mutex
	acknowledged []int64
	pending      int
}

// TestTerminate stops a server under load. Each request that was sent before gets a response, no
// acknowledged plant is lost, and the process soon exits with code 0.
func TestTerminate(t *testing.T) {
	t.Parallel()
	const clients, gone = 500, 5 * time.Second
	for range 3 {
		r := &rush{site: newSite(t), warm: make(chan struct{}, clients)}
		var all sync.WaitGroup
		for n := range clients {
			all.Go(func() { r.run(n) })
		}
		for range clients {
			<-r.warm
		}
		r.terminate()
		select {
		case <-r.server.Exited():
		case <-time.After(gone):
			t.Errorf("the server still runs %v after SIGTERM", gone)
		}
		all.Wait()
		r.server.Stop() // it checks the exit code
		if r.pending > 0 {
			t.Errorf("%d requests that were sent before SIGTERM got no response", r.pending)
		}
		r.server = plantstore.Start(t, plantstore.Options{Dir: r.server.Dir, Env: []string{"LOG_LEVEL=error"}})
		r.verify(r.acknowledged)
		t.Logf("%d plants were acknowledged", len(r.acknowledged))
	}
}

// terminate sends SIGTERM while no request is partly sent.
func (r *rush) terminate() {
	r.sending.Lock()
	defer r.sending.Unlock()
	r.stopped = true
	r.server.Terminate()
}

// run is one client.
func (r *rush) run(n int) {
	conn, err := r.dial(n)
	if err != nil {
		r.t.Error(err)
		r.warm <- struct{}{}
		return
	}
	defer func() { _ = conn.Close() }()
	for warmed := false; r.create(conn); warmed = true {
		if !warmed {
			r.warm <- struct{}{}
		}
	}
}

// create creates one plant, and reports whether the connection can be used again.
func (r *rush) create(conn *client) bool {
	id := r.next.Add(1)
	before, err := r.send(conn, id)
	if err != nil { // it is closed already
		return false
	}
	a, err := conn.read()
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && before:
		r.pending++
	case err != nil:
	case a.created():
		r.acknowledged = append(r.acknowledged, id)
	case !a.refused():
		r.t.Errorf("response %v, want 200 or error 503", a)
	}
	return err == nil && !a.closes
}

// send sends a request and reports whether that was before SIGTERM.
func (r *rush) send(conn *client, id int64) (before bool, err error) {
	r.sending.RLock()
	defer r.sending.RUnlock()
	return !r.stopped, conn.send(r.site.create(id))
}
