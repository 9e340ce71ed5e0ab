package overload

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
)

// A crowd is a group of clients that create plants as fast as possible, and reconnect at once
// when they are refused.
type crowd struct {
	*site

	next    atomic.Int64 // id
	refused atomic.Int64
}

// run returns when n plants were acknowledged to so many clients.
func (c *crowd) run(clients, plants int) {
	c.t.Helper()
	load.Each(clients, clients, func(n int) {
		for again := true; again; {
			again = false
			c.on(n, func(conn *plantstore.Conn) {
				for c.Len() < plants && !again {
					id := c.next.Add(1)
					a, err := conn.Do(c.create(id))
					c.Note(id, plant(id), load.Response{Reply: a, Err: err}, 0)
					if err != nil || !created(a) && !refused(a) {
						c.t.Errorf("response %+v, %v, want 200 or error 503", a.Error, err)
						return
					}
					if refused(a) {
						c.refused.Add(1)
					}
					again = a.Closes // it was refused: reconnect
				}
			})
		}
	})
}

// TestTenTimes checks a server with a slow disk and ten times more clients than connections.
// Each request gets a response, 200 or error 503, creates succeed all the time, and all
// acknowledged plants are stored. Afterwards the server holds no more than before.
func TestTenTimes(t *testing.T) {
	t.Parallel()
	const connections, plants = 200, 2500
	fs := faultfs.Mount(t)
	c := &crowd{site: newSite(t, "STORAGE_URL=bbolt:"+fs.Dir+"/data/plants.db", "JWT_SECRET=overload-overload-overload-overload",
		"MAX_CONNECTIONS=200", goLimit(connections))}
	before := c.held()
	fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if op.IsSync() {
			time.Sleep(20 * time.Millisecond) // it simulates the disk
		}
		return 0
	})
	c.run(10*connections, plants)
	t.Logf("%d plants were acknowledged, %d requests refused", c.Len(), c.refused.Load())
	if c.refused.Load() == 0 {
		t.Error("no request was refused: the server was not overloaded")
	}
	wantMemory(t, c.Server, "VmHWM", memoryBound(connections))
	c.wantHeld(before)
	fs.SetFault(nil)
	c.Verify(t, 0)
}
