package overload

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/e2e/internal/load"
	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/models"
)

// TestIdle opens 10,000 connections, creates a plant on each, and leaves them idle.
func TestIdle(t *testing.T) { //nolint:paralleltest // it takes most of the ports and files
	const connections, most = 10_000, 250_000_000 // with garbage of the creates
	s := newSite(t, "PPROF=on", goLimit(connections))
	for n := range int64(500) { // memory that is allocated once does not count as the cost of a connection
		s.wantSmall(connections + 1 + n)
	}
	before := memory(t, s.Server, "VmRSS")
	clients := make([]*plantstore.Conn, connections)
	load.Each(connections, 64, func(n int) {
		var err error
		if clients[n], err = s.dial(n); err != nil {
			t.Error(err)
			return
		}
		s.want(clients[n], "a create", s.create(int64(n)), created)
	})
	if t.Failed() {
		return
	}
	// The runtime returns the memory of the creates after two collections. An idle server
	// collects every two minutes; a heap profile triggers a collection at once.
	plantstore.Await(t, "an idle connection costs little memory", func() bool {
		s.Server.Get(s.Server.AdminURL + "/debug/pprof/heap?gc=1")
		return memory(t, s.Server, "VmRSS") <= before+most
	})
	wantMemory(t, s.Server, "VmRSS", before+most)

	// They use all connections: one more is refused, and they still work.
	s.on(0, func(c *plantstore.Conn) {
		s.want(c, "one more connection", s.create(connections), func(a plantstore.Reply) bool { return refused(a) && a.Closes })
	})
	load.Each(connections, 64, func(n int) {
		s.want(clients[n], "the same create", s.create(int64(n)), plantstore.Reply.Identical)
		_ = clients[n].Close()
	})
	wantMemory(t, s.Server, "VmHWM", memoryBound(connections))
}

// TestFloods makes many clients hold connections: some send a header a byte at a time, some a body,
// and some never read the responses. Each is disconnected at its deadline, those with a body with an
// Error, and another client is served meanwhile. Afterwards the server holds no more than before.
func TestFloods(t *testing.T) {
	t.Parallel()
	const clients = 600
	s := newSite(t, "REQUEST_TIMEOUT=5s")
	c := must.Get(s.dial(0))(t)
	defer func() { _ = c.Close() }()
	s.want(c, "before", s.create(-1), created)
	before := s.held()
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() { s.on(n, func(c *plantstore.Conn) { s.flood(c, n%3) }) })
	}
	slow := make(chan struct{})
	go func() { all.Wait(); close(slow) }()
	served := 0
	for waiting := true; waiting && !t.Failed(); served++ {
		s.want(c, "meanwhile", s.create(int64(served)), created)
		select {
		case <-slow:
			waiting = false
		case <-time.After(10 * time.Millisecond): // a regular client
		}
	}
	<-slow
	t.Logf("%d plants were created meanwhile", served)
	s.wantHeld(before)
}

// flood sends the start of a header (kind 0), or of a body (1), or requests whose responses it never
// reads (2), and then a byte at a time, until the connection closes. Headers and bodies get a response.
func (s *site) flood(c *plantstore.Conn, kind int) {
	start := []string{
		"POST /plants HTTP/1.1\r\nX-Slow: ",
		plantstore.Header(s.Token, "Content-Length: 1000") + `{"name": "`,
		strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 1000),
	}[kind]
	ended := make(chan error, 1)
	go func() {
		err := c.Send(start)
		for ; err == nil; _, err = io.WriteString(c, "a") {
			time.Sleep(100 * time.Millisecond) // slow on purpose
		}
		ended <- err
	}()
	if kind == 2 {
		if err := <-ended; os.IsTimeout(err) {
			s.t.Errorf("a client that never reads: %v, want a closed connection", err)
		}
		return
	}
	a, err := c.Receive()
	_ = c.Close()
	<-ended //nolint:errcheck // c is closed
	if err != nil || !isError(a, http.StatusRequestTimeout) || !a.Closes {
		s.t.Errorf("kind %d: %v, %v, want error 408 and a closed connection", kind, a, err)
	}
}

// TestHugeBodies sends many bodies of 100 MB at once, and headers of that size. Each is refused,
// and together they cost less memory than one of them.
func TestHugeBodies(t *testing.T) {
	t.Parallel()
	const size, clients = 100_000_000, 40
	s := newSite(t)
	before, megabyte := memory(t, s.Server, "VmHWM"), strings.Repeat("a", 1_000_000)
	load.Each(clients, clients, func(n int) {
		kind := []struct {
			start string
			want  models.Code
		}{
			{plantstore.Header(s.Token, fmt.Sprint("Content-Length: ", size)), http.StatusRequestEntityTooLarge},
			{plantstore.Header(s.Token, "Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n", size), http.StatusRequestEntityTooLarge},
			{fmt.Sprintf("POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size), http.StatusUnauthorized},
			{"POST /plants HTTP/1.1\r\nHost: x\r\nX-Huge: ", http.StatusRequestHeaderFieldsTooLarge},
		}[n%4]
		s.on(n, func(c *plantstore.Conn) {
			sent := make(chan error, 1)
			go func() {
				err := c.Send(kind.start)
				for range size / len(megabyte) {
					_, _ = io.WriteString(c, megabyte) // the server may have closed the connection
				}
				sent <- err
			}()
			a, err := c.Receive()
			if err := cmp.Or(err, <-sent); err != nil || !isError(a, kind.want) || !a.Closes {
				t.Errorf("%.60q: %v, %v, want error %d and a closed connection", kind.start, a, err, kind.want)
			}
		})
	})
	wantMemory(t, s.Server, "VmHWM", before+size)
}

// TestLargeBodies makes some clients send all but the last byte of bodies of the maximum size,
// which use up the memory for bodies. Then other large bodies are refused and small ones
// accepted, and the first bodies are accepted when their last byte arrives.
func TestLargeBodies(t *testing.T) {
	t.Parallel()
	const size, fitting, clients = 1 << 20, 64, 100
	s := newSite(t, "MAX_CONNECTIONS=200", "REQUEST_TIMEOUT=1h", goLimit(200))
	// Many small properties use the most memory.
	properties := new(strings.Builder)
	for i := 0; properties.Len() < size-100; i++ {
		fmt.Fprintf(properties, `"%x":1,`, i)
	}
	body := func(n int) string {
		b := fmt.Sprintf(`{"id":%d,"name":"large`, n)
		if n%8 == 0 {
			b = fmt.Sprintf(`{%s"id":%d,"name":"large`, properties, n)
		}
		return b + strings.Repeat(" ", size-len(b)-2) + `"}`
	}
	holders := make([]*plantstore.Conn, fitting)
	var token string
	for n := range holders {
		if n%(fitting/4) == 0 { // each subject may hold a quarter of the memory
			token = s.Server.Token("--ttl", "0", "--subject", fmt.Sprint("holder ", n))
		}
		holders[n] = must.Get(s.dial(n))(t)
		must.Do(t, holders[n].Send(plantstore.Header(token, fmt.Sprint("Content-Length: ", size))+body(n)[:size-1]))
	}
	const counting = 5 << 10 // slightly above the size of the bodies that count
	plantstore.Await(t, "the memory for bodies is used up", func() bool {
		c := must.Get(s.dial(0))(t)
		defer func() { _ = c.Close() }()
		return refused(must.Get(c.Do(plantstore.Header(s.Token, fmt.Sprint("Content-Length: ", counting)) + strings.Repeat(" ", counting)))(t))
	})
	load.Each(clients, clients, func(n int) {
		s.on(n, func(c *plantstore.Conn) {
			s.want(c, "a large body too many", plantstore.Create(s.Token, body(fitting+n)), refused)
		})
	})
	s.wantSmall(1 << 40)
	load.Each(fitting, fitting, func(n int) { s.want(holders[n], "a large body", body(n)[size-1:], created) })
	// Now all send at once, and retry as often as necessary.
	load.Each(clients, clients, func(n int) { s.insist(n, plantstore.Create(s.Token, body(fitting+n))) })
	wantMemory(t, s.Server, "VmHWM", memoryBound(200))
}

// wantSmall creates a small plant.
func (s *site) wantSmall(id int64) {
	s.on(0, func(c *plantstore.Conn) { s.want(c, "a small body", s.create(id), created) })
}

// insist sends a request until it is accepted.
func (s *site) insist(n int, request string) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(100 * time.Millisecond) { // as a client should
		ended := true
		s.on(n, func(c *plantstore.Conn) {
			a, err := c.Do(request)
			if ended = err != nil || !refused(a); ended && !created(a) {
				s.t.Errorf("a large body among many: %v, %v", a, err)
			}
		})
		if ended {
			return
		}
	}
	s.t.Errorf("a large body was refused for %v", patience)
}
