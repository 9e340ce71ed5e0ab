package server

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// frame returns a frame that says that it has that length, with the payload.
func frame(kind, flags, length byte, payload string) string {
	return string([]byte{0, 0, length, kind, flags, 0, 0, 0, 1}) + payload
}

// unfinished are beginnings of what a client could leave incomplete. Each is for the
// end of what it has sent.
func unfinished() map[string]string {
	return map[string]string{
		"half a head":               frame(frameHeaders, flagEndHeaders, 9, "")[:4],
		"a head":                    frame(frameHeaders, flagEndHeaders, 9, ""),
		"half a frame":              frame(frameHeaders, flagEndHeaders, 9, "\x82\x87"),
		"a block without its end":   frame(frameHeaders, flagEndStream, 2, "\x82\x87"),
		"an empty block":            frame(frameHeaders, 0, 0, ""),
		"a block that is continued": frame(frameHeaders, 0, 2, "\x82\x87") + frame(frameContinuation, 0, 1, "\x84"),
		"half a PING":               frame(0x6, 0, 8, "1234"),
	}
}

// finished are what may be followed by nothing.
func finished() map[string]string {
	return map[string]string{
		"nothing":              "",
		"a frame":              frame(0x6, 0, 8, "12345678"),
		"a whole block":        frame(frameHeaders, 0, 2, "\x82\x87") + frame(frameContinuation, flagEndHeaders, 1, "\x84"),
		"half a frame of DATA": frame(frameHeaders, flagEndHeaders, 1, "\x82") + frame(frameData, 0, 9, "ab"),
	}
}

// However the bytes are cut, it is known whether something is incomplete, and since
// when.
func TestBlockClock(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, size := range []int{1, 2, 7, 1 << 10} {
		for name, text := range unfinished() {
			var b blockClock
			for at, text := 0, http2.ClientPreface+frame(0x4, 0, 0, "")+text; at < len(text); at += size {
				b.follow([]byte(text[at:min(at+size, len(text))]), start)
			}
			if !b.since.Equal(start) {
				t.Errorf("%s, %d bytes at a time: since %v", name, size, b.since)
			}
			b.follow(nil, start.Add(time.Second))
			if !b.since.Equal(start) {
				t.Errorf("%s: it begins anew", name)
			}
		}
		for name, text := range finished() {
			var b blockClock
			for at, text := 0, http2.ClientPreface+text; at < len(text); at += size {
				b.follow([]byte(text[at:min(at+size, len(text))]), start)
			}
			if !b.since.IsZero() {
				t.Errorf("%s, %d bytes at a time: since %v, want nothing incomplete", name, size, b.since)
			}
		}
	}
}

// What is incomplete in HTTP/2 is cut off after HeaderTimeout, and not only after
// IdleTimeout, also beside a request that goes on.
func TestUnfinishedBlocks(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.HeaderTimeout = 2 * time.Second })
	for name, text := range unfinished() {
		for beside, before := range map[string]string{"alone": "", "beside a request": frame(frameHeaders, flagEndHeaders, 6, "\x83\x87\x84\x41\x01x")} {
			t.Run(name+" "+beside, func(t *testing.T) {
				t.Parallel()
				c := s.dialTLS(t, authority, http2Name).send(http2.ClientPreface + frame(0x4, 0, 0, "") + before + text)
				if _, err := io.Copy(io.Discard, c.in); err != nil {
					t.Errorf("%v, want the end of the connection", err)
				}
			})
		}
	}
}

// A block that goes on slowly is cut off as well.
func TestSlowBlock(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.HeaderTimeout = 2 * time.Second })
	c := s.dialTLS(t, authority, http2Name).send(http2.ClientPreface + frame(0x4, 0, 0, "") + frame(frameHeaders, 0, 0, ""))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, c.in)
	}()
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond): // slowly, on purpose
		}
		if n == 1000 {
			t.Fatal("it goes on")
		}
		_, _ = io.WriteString(c, frame(frameContinuation, 0, 0, "")) // the server may have cut it off
	}
}

// A deadlined is a connection whose reads come from input. It keeps its deadline.
type deadlined struct {
	net.Conn

	input    io.Reader
	deadline time.Time
}

func (d *deadlined) Read(p []byte) (int, error) { return d.input.Read(p) }

func (d *deadlined) SetReadDeadline(t time.Time) error {
	d.deadline = t
	return nil
}

// Only what is incomplete has a deadline, and the earlier one counts.
func TestDeadlineOfBlocks(t *testing.T) {
	t.Parallel()
	input := http2.ClientPreface + finished()["half a frame of DATA"]
	under := &deadlined{input: strings.NewReader(input + "12345678")}
	c := &two{Conn: under, conn: &conn{server: &Server{config: Config{HeaderTimeout: time.Hour}}}}
	read := func(n int, limited bool) {
		t.Helper()
		if _, err := io.ReadFull(c, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(nil); err != nil || under.deadline.IsZero() == limited {
			t.Errorf("after %d more bytes: %v, the deadline is %v", n, err, under.deadline)
		}
	}
	read(len(http2.ClientPreface), false)
	read(3, true)
	if err := c.SetReadDeadline(time.Time{}); err != nil || under.deadline.IsZero() {
		t.Errorf("%v, net/http takes the deadline away", err)
	}
	early := time.Now().Add(time.Minute)
	if err := c.SetReadDeadline(early); err != nil || !under.deadline.Equal(early) {
		t.Errorf("%v, the deadline is %v, want the earlier one", err, under.deadline)
	}
	if err := c.SetReadDeadline(time.Time{}); err != nil {
		t.Error(err)
	}
	read(7, false)
	read(9, false)
	read(9, false)
}
