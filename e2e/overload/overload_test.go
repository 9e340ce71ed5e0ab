package overload

import (
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"plantstore/e2e/internal/faultfs"
	"plantstore/e2e/internal/plantstore"
)

// A crowd is a group of clients that create plants as fast as possible, and reconnect at once
// when they are refused.
type crowd struct {
	*site
	clients int

	next    atomic.Int64 // id
	refused atomic.Int64
	enough  chan struct{} // closed when the clients must stop

	mu           sync.Mutex
	acknowledged []int64
}

// run returns when n plants were acknowledged.
func (c *crowd) run(plants int) {
	c.t.Helper()
	c.enough = make(chan struct{})
	each(c.clients, c.clients, func(n int) {
		for c.session(n, plants) {
		}
	})
}

// session sends a client's requests on one connection. It reports whether the client
// should reconnect.
func (c *crowd) session(n, plants int) bool {
	conn, err := c.dial(n)
	if err != nil {
		c.t.Errorf("no connection: %v", err)
		return false
	}
	defer func() { _ = conn.Close() }()
	for {
		select {
		case <-c.enough:
			return false
		default:
		}
		id := c.next.Add(1)
		switch a, err := conn.do(c.create(id)); {
		case err != nil:
			c.t.Errorf("no response: %v", err)
			return false
		case a.created():
			c.acknowledge(id, plants)
		case !a.refused():
			c.t.Errorf("response %v, want 200 or error 503", a)
			return false
		default:
			c.refused.Add(1)
			if a.closes {
				return true
			}
		}
	}
}

func (c *crowd) acknowledge(id int64, plants int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acknowledged = append(c.acknowledged, id)
	if len(c.acknowledged) == plants {
		close(c.enough)
	}
}

// TestTenTimes checks a server with a slow disk and ten times more clients than connections.
// Each request gets a response, 200 or error 503, creates succeed all the time, and all
// acknowledged plants are stored. Afterwards the server holds no more than before.
func TestTenTimes(t *testing.T) {
	t.Parallel()
	const connections, plants = 200, 5000
	fs := faultfs.Mount(t)
	server := plantstore.Start(t, plantstore.Options{Env: []string{
		"STORAGE_URL=bbolt:" + fs.Dir + "/data/plants.db", "JWT_SECRET=overload-overload-overload-overload",
		"MAX_CONNECTIONS=200", "LOG_LEVEL=error", goLimit(connections),
	}})
	c := &crowd{site: &site{t: t, server: server, token: server.Token("--ttl", "0")}, clients: 10 * connections}
	before := c.held()
	fs.SetFault(func(op faultfs.Op) syscall.Errno {
		if op.IsSync() {
			time.Sleep(20 * time.Millisecond) // it simulates the disk
		}
		return 0
	})
	c.run(plants)
	t.Logf("%d plants were acknowledged, %d requests refused", len(c.acknowledged), c.refused.Load())
	if c.refused.Load() == 0 {
		t.Error("no request was refused: the server was not overloaded")
	}
	wantMemory(t, server, "VmHWM", memoryBound(connections))
	c.wantHeld(before)
	fs.SetFault(nil)
	c.verify(c.acknowledged)
}

// TestCrowdOnDisk is TestTenTimes with the normal disk, where the processors are the bottleneck,
// and with connections for all clients.
func TestCrowdOnDisk(t *testing.T) {
	t.Parallel()
	const clients = 2000
	c := &crowd{site: newSite(t, "MAX_CONNECTIONS=2500", goLimit(2500)), clients: clients}
	c.run(10 * clients)
	if refused := c.refused.Load(); refused > 0 {
		t.Errorf("%d requests were refused, although nothing was full", refused)
	}
	wantMemory(t, c.server, "VmHWM", memoryBound(2500))
	c.verify(c.acknowledged)
}
