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
	const clients = 100 // all are served within leaveTime, also on a busy machine
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
		r.sending.Lock() // no request is partly sent
		r.stopped = true
		r.Server.Terminate()
		r.sending.Unlock()
		if code := r.Server.AwaitExit(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		all.Wait()
		if n := r.pending.Load(); n > 0 {
			t.Errorf("%d requests that were sent before SIGTERM got no response", n)
		}
		r.Server = plantstore.Start(t, plantstore.Options{Dir: r.Server.Dir, Env: []string{"LOG_LEVEL=error"}})
		r.Verify(t, 0)
		t.Logf("%d plants were acknowledged", r.Len())
	}
}

// create creates one plant, and reports whether the connection can be used again.
func (r *rush) create(conn *plantstore.Conn) bool {
	id := r.next.Add(1)
	r.sending.RLock()
	before, err := !r.stopped, conn.Send(r.site.create(id))
	r.sending.RUnlock()
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
