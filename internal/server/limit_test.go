package server

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// hold opens a connection and sends a request on it.
func (s *site) hold(t *testing.T) *client {
	t.Helper()
	c := s.dial(t).send(good)
	c.wantEcho(goodEcho)
	return c
}

// waitForSlot returns when a new connection is served.
func (s *site) waitForSlot(t *testing.T) {
	t.Helper()
	for range 10_000 {
		c := s.dial(t).send(good)
		r := c.reply()
		_ = c.Close()
		if r.StatusCode == http.StatusOK {
			return
		}
	}
	t.Fatal("no slot was released")
}

// TestLargestHeader checks that a header within both limits is accepted, also if the body, requests
// behind it, or folded fields have many lines.
func TestLargestHeader(t *testing.T) {
	t.Parallel()
	s := start(t)
	header := get("Host: x", "X: ")
	s.dial(t).send(get("Host: x", "X: "+strings.Repeat("a", maxHeaderBytes-len(header)))).wantEcho("GET / ")
	s.dial(t).send(get("Host: x", "X: "+strings.Repeat("a", maxHeaderBytes-len(header)+1))).wantRefusal(431)
	many := slices.Repeat([]string{"X: y"}, maxFields-2) // and Host, and Content-Length
	lines := strings.Repeat("\n\r\n", maxHeaderBytes/3)
	s.dial(t).send(post("/", lines, append(many, "Content-Length: "+strconv.Itoa(len(lines)))...)).wantEcho("POST / " + lines)
	s.dial(t).send(host("X: y" + strings.Repeat("\r\n z", maxFields))).wantEcho("GET / ")
	c := s.dial(t).send(strings.Repeat(host(), maxLines))
	for range maxLines {
		c.wantEcho("GET / ")
	}
}

// TestDeafClient checks how much of a response the kernel keeps for a client that does not read it.
func TestDeafClient(t *testing.T) {
	t.Parallel()
	sent := make(chan int)
	s := start(t, handler(func(w http.ResponseWriter, _ *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(300 * time.Millisecond)) // until the kernel takes no more
		total := 0
		for piece := make([]byte, 16<<10); ; {
			n, err := w.Write(piece)
			if total += n; err != nil {
				sent <- total
				return
			}
		}
	}))
	c := s.dial(t)
	if err := c.Conn.(*net.TCPConn).SetReadBuffer(1); err != nil {
		t.Fatal(err)
	}
	c.send(host())
	if n := <-sent; n > 8*sendBuffer {
		t.Errorf("%d bytes of a response were sent, want at most %d", n, 8*sendBuffer)
	}
}

// TestOverLimit checks that a connection beyond the limit gets an Error after its header (C1.3), and
// is counted. When another connection closes, its slot is free.
func TestOverLimit(t *testing.T) {
	t.Parallel()
	s := start(t, only(2))
	first, second := s.hold(t), s.hold(t)
	for _, text := range []string{host(), sized("/", strings.Repeat("x", 20<<20)), post("/", "", "Content-Length: 2")} {
		c := s.dial(t).send(text)
		if r := c.wantRefusal(503); !strings.Contains(r.body, "MAX_CONNECTIONS") {
			t.Errorf("message %q does not name the reason", r.body)
		}
		_ = c.Close() // its slot is the only one beyond the limit
	}
	if served := s.paths(); len(served) != 2 {
		t.Errorf("served %q", served)
	}
	if got, want := s.Stats(), (Stats{Open: 2, Limit: 2, Accepted: 5, TurnedAway: 3}); got != want {
		t.Errorf("statistics %+v, want %+v", got, want)
	}
	_ = first.Close()
	s.waitForSlot(t)
	second.send(good).wantEcho(goodEcho)
}

// TestOverLimitWaits checks that an eighth of the limit is turned away at a time: if these slots are
// in use as well, a connection waits for a slot.
func TestOverLimitWaits(t *testing.T) {
	t.Parallel()
	s := start(t, only(16))
	var held []*client
	for range 16 {
		held = append(held, s.hold(t))
	}
	var further []*client
	for range 2 {
		further = append(further, s.dial(t).send("G"))
	}
	for s.Stats().TurnedAway < 2 { // otherwise one could get the slot that is released
		runtime.Gosched()
	}
	waiting := s.dial(t).send(good)
	_ = held[0].Close()
	waiting.wantEcho(goodEcho)
	if got := s.Stats().TurnedAway; got != 2 {
		t.Errorf("%d connections were turned away, want 2", got)
	}
	for _, c := range further {
		c.send("ET / HTTP/1.1\r\nHost: x\r\n\r\n").wantRefusal(503)
	}
}

// TestOpenFiles checks that a server warns if it cannot have as many connections as it may, and only then.
func TestOpenFiles(t *testing.T) {
	t.Parallel()
	limit := maxFiles()
	if limit > 1<<31 && runtime.GOOS != "linux" { // where it is at most fs.nr_open
		t.Skip("the number of open files is not limited")
	}
	for connections, warns := range map[int]bool{16: false, int(limit): true} {
		var log bytes.Buffer
		s := start(t, only(connections), logTo(&log))
		s.wantStopped(t)
		if strings.Contains(log.String(), fmt.Sprintf("limit=%d", limit)) != warns {
			t.Errorf("with %d connections the log is %q", connections, &log)
		}
	}
}

// TestSlotsAreReleased checks that every connection releases its slot, however it ends, also by a
// reset.
func TestSlotsAreReleased(t *testing.T) {
	t.Parallel()
	s := start(t, only(1))
	for _, text := range []string{
		"", "GET", good[:len(good)-1], good, good + "G", host("Connection: close"), sized("/early", "hi"), "nonsense\r\n\r\n", sized("/panic", ""),
	} {
		c := s.dial(t).send(text).closeHalf()
		_, _ = io.Copy(io.Discard, c.in) // some get no response
		_ = c.Close()
		s.waitForSlot(t)
		c = s.dial(t).send(text)
		_ = c.Conn.(*net.TCPConn).SetLinger(0)
		_ = c.Close()
		s.waitForSlot(t)
	}
}
