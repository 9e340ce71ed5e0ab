package overload

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
)

// TestIdle opens 10,000 connections, creates a plant on each, and leaves them idle.
func TestIdle(t *testing.T) { //nolint:paralleltest // it takes most of the ports and files
	const connections, most = 10_000, 250_000_000 // with garbage of the creates
	s := newSite(t, "PPROF=on", goLimit(connections))
	for n := range 500 { // memory that is allocated once does not count as the cost of a connection
		s.wantSmall(t, int64(connections+1+n))
	}
	before := memory(t, s.server, "VmRSS")
	clients := make([]*client, connections)
	each(connections, 64, func(n int) {
		var err error
		if clients[n], err = s.dial(n); err != nil {
			t.Error(err)
			return
		}
		if a, err := clients[n].do(s.create(int64(n))); err != nil || !a.created() {
			t.Errorf("response %v, %v", a, err)
		}
	})
	if t.Failed() {
		return
	}
	// The runtime returns the memory of the creates after two collections. An idle server
	// collects every two minutes; a heap profile triggers a collection at once.
	for end := time.Now().Add(patience); memory(t, s.server, "VmRSS") > before+most && time.Now().Before(end); {
		collect(t, s.server)
		time.Sleep(100 * time.Millisecond)
	}
	wantMemory(t, s.server, "VmRSS", before+most)

	// They use all connections: one more is refused, and they still work.
	extra := must.Get(s.dial(0))(t)
	if a, err := extra.do(s.create(connections)); err != nil || !a.refused() || !a.closes {
		t.Errorf("one more connection: %v, %v", a, err)
	}
	_ = extra.Close()
	each(connections, 64, func(n int) {
		if a, err := clients[n].do(s.create(int64(n))); err != nil || !a.identical() {
			t.Errorf("response %v, %v", a, err)
		}
		_ = clients[n].Close()
	})
	wantMemory(t, s.server, "VmHWM", memoryBound(connections))
}

// collect makes the server collect its garbage.
func collect(t *testing.T, server *plantstore.Server) {
	t.Helper()
	request := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, server.AdminURL+"/debug/pprof/heap?gc=1", http.NoBody))(t)
	response := must.Get(http.DefaultClient.Do(request))(t)
	must.Get(io.Copy(io.Discard, response.Body))(t)
	if err := response.Body.Close(); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("the profile of the heap: %d, %v", response.StatusCode, err)
	}
}

// TestFloods makes many clients hold connections: some send a header a byte at a time, some a body,
// and some never read the responses. Each is disconnected at its deadline, those with a body with an
// Error, and another client is served meanwhile. Afterwards the server holds no more than before.
func TestFloods(t *testing.T) {
	t.Parallel()
	const clients = 600
	s := newSite(t, "REQUEST_TIMEOUT=8s")
	c := must.Get(s.dial(0))(t)
	if a, err := c.do(s.create(-1)); err != nil || !a.created() {
		t.Fatalf("before: %v, %v", a, err)
	}
	before := s.held()
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() { s.flood(n, n%3) })
	}
	slow := make(chan struct{})
	go func() { all.Wait(); close(slow) }()
	served := 0
	for waiting := true; waiting; served++ {
		if a, err := c.do(s.create(int64(served))); err != nil || !a.created() {
			t.Fatalf("meanwhile: %v, %v", a, err)
		}
		select {
		case <-slow:
			waiting = false
		case <-time.After(10 * time.Millisecond): // a regular client
		}
	}
	t.Logf("%d plants were created meanwhile", served)
	s.wantHeld(before)
}

// flood sends the start of a header (kind 0), or of a body (1), or requests whose responses it never
// reads (2), and then a byte at a time, until the connection closes. Only a body gets a response.
func (s *site) flood(n, kind int) {
	c, err := s.dial(n)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer func() { _ = c.Close() }()
	start := []string{
		"POST /plants HTTP/1.1\r\nX-Slow: ",
		s.header("Content-Length: 1000") + `{"name": "`,
		strings.Repeat("GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n", 1000),
	}[kind]
	ended := make(chan error, 1)
	go func() {
		err := c.send(start)
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
	a, err := c.read()
	_ = c.Close()
	<-ended //nolint:errcheck // c is closed
	if kind == 0 && (err == nil || os.IsTimeout(err)) {
		s.t.Errorf("a slow header: %v, %v, want a closed connection", a, err)
	}
	if kind == 1 && (err != nil || !a.isError(http.StatusRequestTimeout) || !a.closes) {
		s.t.Errorf("a slow body: %v, %v, want error 408 and a closed connection", a, err)
	}
}

// TestHugeBodies sends many bodies of 100 MB at once, and headers of that size. Each is refused,
// and together they cost less memory than one of them.
func TestHugeBodies(t *testing.T) {
	t.Parallel()
	const size, clients = 100_000_000, 40
	s := newSite(t)
	before := memory(t, s.server, "VmHWM")
	each(clients, clients, func(n int) {
		kind := []struct {
			start string
			want  models.Code
		}{
			{s.header(fmt.Sprint("Content-Length: ", size)), http.StatusRequestEntityTooLarge},
			{s.header("Transfer-Encoding: chunked") + fmt.Sprintf("%x\r\n", size), http.StatusRequestEntityTooLarge},
			{fmt.Sprintf("POST /plants HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n", size), http.StatusUnauthorized},
			{"POST /plants HTTP/1.1\r\nHost: x\r\nX-Huge: ", http.StatusRequestHeaderFieldsTooLarge},
		}[n%4]
		c, err := s.dial(n)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		err = c.send(kind.start)
		var sender sync.WaitGroup
		sender.Go(func() {
			_, _ = io.CopyN(c, endless{}, size) // the server may have closed the connection
		})
		a, err2 := c.read()
		if err != nil || err2 != nil || !a.isError(kind.want) || !a.closes {
			t.Errorf("%.60q: %v, %v, %v, want error %d and a closed connection", kind.start, a, err, err2, kind.want)
		}
		sender.Wait()
	})
	wantMemory(t, s.server, "VmHWM", before+size)
}

// endless is a body of letters.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	return len(p), nil
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
	holders := make([]*client, fitting)
	var subjects [4]site // each may hold a quarter of the memory
	for i := range subjects {
		subjects[i].token = s.server.Token("--ttl", "0", "--subject", fmt.Sprint("holder ", i))
	}
	for n := range holders {
		var err error
		if holders[n], err = s.dial(n); err == nil {
			err = holders[n].send(subjects[n%4].header(fmt.Sprint("Content-Length: ", size)) + body(n)[:size-1])
		}
		must.Do(t, err)
	}
	s.awaitFull()
	each(clients, clients, func(n int) {
		c, err := s.dial(n)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		if a, err := c.do(s.header(fmt.Sprint("Content-Length: ", size)) + body(fitting+n)); err != nil || !a.refused() {
			t.Errorf("a large body too many: %v, %v", a, err)
		}
	})
	s.wantSmall(t, 1<<40)
	each(fitting, fitting, func(n int) {
		if a, err := holders[n].do(body(n)[size-1:]); err != nil || !a.created() {
			t.Errorf("a large body: %v, %v", a, err)
		}
	})
	// Now all send at once, and retry as often as necessary.
	each(clients, clients, func(n int) { s.insist(n, s.header(fmt.Sprint("Content-Length: ", size))+body(fitting+n)) })
	wantMemory(t, s.server, "VmHWM", memoryBound(200))
}

// awaitFull waits until the large bodies that the server has read leave no memory for a body
// slightly above the size that counts.
func (s *site) awaitFull() {
	s.t.Helper()
	const size = 5 << 10
	for start := time.Now(); time.Since(start) < patience; {
		c := must.Get(s.dial(0))(s.t)
		a, err := c.do(s.header(fmt.Sprint("Content-Length: ", size)) + strings.Repeat(" ", size))
		_ = c.Close()
		switch {
		case err != nil:
			s.t.Fatal(err)
		case a.refused():
			return
		}
	}
	s.t.Fatal("the memory for bodies is not used up")
}

// wantSmall creates a small plant.
func (s *site) wantSmall(t *testing.T, id int64) {
	t.Helper()
	c := must.Get(s.dial(0))(t)
	defer func() { _ = c.Close() }()
	if a, err := c.do(s.create(id)); err != nil || !a.created() {
		t.Errorf("a small body: %v, %v", a, err)
	}
}

// insist sends a request until it is accepted.
func (s *site) insist(n int, request string) {
	for start := time.Now(); time.Since(start) < patience; {
		c, err := s.dial(n)
		if err != nil {
			s.t.Error(err)
			return
		}
		a, err := c.do(request)
		_ = c.Close()
		if err == nil && a.created() {
			return
		}
		if err != nil || !a.refused() {
			s.t.Errorf("a large body among many: %v, %v", a, err)
			return
		}
		time.Sleep(100 * time.Millisecond) // as a client should
	}
	s.t.Errorf("a large body was refused for %v", patience)
}
