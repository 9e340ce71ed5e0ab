package overload

import (
	"sync"
	"sync/atomic"
	"testing"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
)

// A rush is a group of clients that create plants until the server has exited.
type rush struct {
	*site

	next    atomic.Int64   // id
	warm    sync.WaitGroup // of clients until their first response
	sending sync.RWMutex   // held by clients while they send a request
	stopped bool           // SIGTERM was sent; sending guards it
	pending atomic.Int64
}

// TestTerminate stops a server under load. Each request that was sent before gets a response, no
// acknowledged plant is lost, and the process soon exits with code 0.
func TestTerminate(t *testing.T) {
	t.Parallel()
	const clients = 500
	for range 3 {
		r := &rush{site: newSite(t)}
		r.warm.Add(clients)
		var all sync.WaitGroup
		for n := range clients {
			all.Go(func() {
				warm := sync.OnceFunc(r.warm.Done)
				defer warm()
				r.on(n, func(conn *plantstore.Conn) {
					for r.create(conn) {
						warm()
					}
				})
			})
		}
		r.warm.Wait()
		r.terminate()
		if code := r.server.AwaitExit(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		all.Wait()
		if n := r.pending.Load(); n > 0 {
			t.Errorf("%d requests that were sent before SIGTERM got no response", n)
		}
		r.server = plantstore.Start(t, plantstore.Options{Dir: r.server.Dir, Env: []string{"LOG_LEVEL=error"}})
		r.Verify(t, 0)
		t.Logf("%d plants were acknowledged", r.Len())
	}
}

// terminate sends SIGTERM while no request is partly sent.
func (r *rush) terminate() {
	r.sending.Lock()
	defer r.sending.Unlock()
	r.stopped = true
	r.server.Terminate()
}

// create creates one plant, and reports whether the connection can be used again.
func (r *rush) create(conn *plantstore.Conn) bool {
	id := r.next.Add(1)
	before, err := r.send(conn, id)
	if err != nil { // it is closed already
		return false
	}
	a, err := conn.Receive()
	r.Note(id, plant(id), load.Response{Reply: a, Err: err}, 0)
	switch {
	case err != nil && before:
		r.pending.Add(1)
	case err == nil && !created(a) && !refused(a):
		r.t.Errorf("response %+v, want 200 or error 503", a.Error)
	}
	return err == nil && !a.Closes
}

// send sends a request and reports whether that was before SIGTERM.
func (r *rush) send(conn *plantstore.Conn, id int64) (before bool, err error) {
	r.sending.RLock()
	defer r.sending.RUnlock()
	return !r.stopped, conn.Send(r.site.create(id))
}
