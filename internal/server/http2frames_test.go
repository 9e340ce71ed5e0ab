package server

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
)

// frame returns a frame of stream 1 with that length in its head, and the payload.
func frame(kind http2.FrameType, flags http2.Flags, length byte, payload string) string {
	return string([]byte{0, 0, length, byte(kind), byte(flags), 0, 0, 0, 1}) + payload
}

// unfinished are inputs of a client with an incomplete end.
func unfinished() map[string]string {
	return map[string]string{
		"half a head":               frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 9, "")[:4],
		"a head":                    frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 9, ""),
		"half a frame":              frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 9, "\x82\x87"),
		"a block without its end":   frame(http2.FrameHeaders, http2.FlagHeadersEndStream, 2, "\x82\x87"),
		"an empty block":            frame(http2.FrameHeaders, 0, 0, ""),
		"a block that is continued": frame(http2.FrameHeaders, 0, 2, "\x82\x87") + frame(http2.FrameContinuation, 0, 1, "\x84"),
		"half a PING":               frame(http2.FramePing, 0, 8, "1234"),
	}
}

// finished are complete inputs.
func finished() map[string]string {
	return map[string]string{
		"empty":                "",
		"a frame":              frame(http2.FramePing, 0, 8, "12345678"),
		"a complete block":     frame(http2.FrameHeaders, 0, 2, "\x82\x87") + frame(http2.FrameContinuation, http2.FlagHeadersEndHeaders, 1, "\x84"),
		"half a frame of DATA": frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, "\x82") + frame(http2.FrameData, 0, 9, "ab"),
	}
}

// TestFrameClock checks that an incomplete frame is detected, and its start, whatever the sizes
// of reads.
func TestFrameClock(t *testing.T) {
	t.Parallel()
	start := time.Now()
	for _, size := range []int{1, 2, 7, 1 << 10} {
		for name, text := range unfinished() {
			var c frameClock
			for at, text := 0, http2.ClientPreface+frame(http2.FrameSettings, 0, 0, "")+text; at < len(text); at += size {
				c.follow([]byte(text[at:min(at+size, len(text))]), start)
			}
			if !c.since.Equal(start) {
				t.Errorf("%s, %d bytes at a time: since %v", name, size, c.since)
			}
			c.follow(nil, start.Add(time.Second))
			if !c.since.Equal(start) {
				t.Errorf("%s: the clock restarts", name)
			}
		}
		for name, text := range finished() {
			var c frameClock
			for at, text := 0, http2.ClientPreface+text; at < len(text); at += size {
				c.follow([]byte(text[at:min(at+size, len(text))]), start)
			}
			if !c.since.IsZero() {
				t.Errorf("%s, %d bytes at a time: since %v, want no incomplete frame", name, size, c.since)
			}
		}
	}
}

// TestUnfinishedFrames checks that an incomplete frame or header block is cut off after
// HeaderTimeout, not IdleTimeout, also while another request is in progress.
func TestUnfinishedFrames(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.HeaderTimeout = 2 * time.Second })
	for name, text := range unfinished() {
		for context, before := range map[string]string{"alone": "", "with a request": frame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 6, "\x83\x87\x84\x41\x01x")} {
			t.Run(name+" "+context, func(t *testing.T) {
				t.Parallel()
				c := s.dialTLS(t, authority, http2Name).send(http2.ClientPreface + frame(http2.FrameSettings, 0, 0, "") + before + text)
				if _, err := io.Copy(io.Discard, c.in); err != nil {
					t.Errorf("%v, want the end of the connection", err)
				}
			})
		}
	}
}

// TestSlowHeaderBlock checks that a header block that continues slowly is cut off as well.
func TestSlowHeaderBlock(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.HeaderTimeout = 2 * time.Second })
	c := s.dialTLS(t, authority, http2Name).send(http2.ClientPreface + frame(http2.FrameSettings, 0, 0, "") + frame(http2.FrameHeaders, 0, 0, ""))
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, c.in)
	}()
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		case <-time.After(20 * time.Millisecond): // slow on purpose
		}
		if n == 1000 {
			t.Fatal("the connection stays open")
		}
		_, _ = io.WriteString(c, frame(http2.FrameContinuation, 0, 0, "")) // the server may have closed the connection
	}
}

// A deadlined is a connection that reads from input and records its deadline.
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

// TestDeadlineOfFrames checks that incomplete input has a deadline, and that net/http cannot
// change it.
func TestDeadlineOfFrames(t *testing.T) {
	t.Parallel()
	input := http2.ClientPreface + finished()["half a frame of DATA"]
	under := &deadlined{input: strings.NewReader(input + "12345678")}
	c := newHTTP2Conn(&acceptedConn{Conn: under, server: &Server{config: Config{HeaderTimeout: time.Hour}}})
	read := func(n int, limited bool) {
		t.Helper()
		if _, err := io.ReadFull(c, make([]byte, n)); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Read(nil); err != nil || under.deadline.IsZero() == limited {
			t.Errorf("after %d more bytes: %v, the deadline is %v", n, err, under.deadline)
		}
	}
	read(0, true)
	read(len(http2.ClientPreface), true)
	read(3, true)
	if err := c.SetReadDeadline(time.Time{}); err != nil || under.deadline.IsZero() {
		t.Errorf("%v, net/http takes the deadline away", err)
	}
	read(7, false)
	read(9, false)
	read(9, false)
}
