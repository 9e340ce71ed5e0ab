package overload

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"plantstore/internal/certtest"
)

// The limits of a client: bytes of a header, and streams of an HTTP/2 connection.
const (
	headerBytes = 32 << 10
	streams     = 100
)

// TestTLS uses all connections with clients that hold as much memory as possible over TLS:
// during the handshake, in the body after a large header, and in HTTP/2, which only some of them
// get, with the maximum number of streams and unread responses. One more client is still served.
func TestTLS(t *testing.T) {
	t.Parallel()
	const connections = 1000
	authority := certtest.New(t)
	cert, key := authority.Issue(t.TempDir(), time.Now().Add(time.Hour))
	// With little garbage, the memory of the process is close to its live heap.
	s := newSite(t, "TLS_CERT_FILE="+cert, "TLS_KEY_FILE="+key, fmt.Sprint("MAX_CONNECTIONS=", connections),
		"GOGC=10", "REQUEST_TIMEOUT=1h")
	s.server.BaseURL = strings.Replace(s.server.BaseURL, "https", "http", 1) // for dial, which does not use TLS
	config := authority.Client("h2", "http/1.1")
	config.ServerName = "localhost"
	before := memory(t, s.server, "VmRSS")
	each(connections-1, 32, func(n int) {
		c, err := s.dial(n)
		if err != nil {
			t.Error(err)
			return
		}
		t.Cleanup(func() { _ = c.Close() })
		if n >= connections*9/10 { // the last ones: a handshake has five seconds
			_, err = io.WriteString(c, "\x16\x03\x01\x40\x00\x01\x00\xff\xfb"+strings.Repeat("a", 15<<10))
		} else {
			err = s.hold(c, config, n%2 == 0)
		}
		if err != nil {
			t.Errorf("client %d: %v", n, err)
		}
	})
	last, err := s.dial(0)
	if err != nil {
		t.Fatal(err)
	}
	config = config.Clone()
	config.NextProtos = nil
	last.Conn = tls.Client(last.Conn, config)
	t.Cleanup(func() { _ = last.Close() })
	last.in.Reset(last)
	if a, err := last.do(s.create(1)); err != nil || !a.created() {
		t.Errorf("one more client: %v, %v", a, err)
	}
	wantMemory(t, s.server, "VmHWM", before+overTLS(connections)+connections<<16)
}

// hold holds as much memory as a connection may, in the version of HTTP that it gets.
func (s *site) hold(c *client, config *tls.Config, many bool) error {
	_ = c.SetDeadline(time.Now().Add(patience)) // if this fails, so does the next call
	secure := tls.Client(c.Conn, config)
	if err := secure.HandshakeContext(s.t.Context()); err != nil {
		return err
	}
	if secure.ConnectionState().NegotiatedProtocol == "h2" {
		return s.holdTwo(secure, many)
	}
	return s.holdOne(secure)
}

// holdOne holds a large header and nearly all of a small body.
func (s *site) holdOne(c io.Writer) error {
	lines := []string{"Content-Length: 4096"}
	for range 100 {
		lines = append(lines, "X-Large: "+strings.Repeat("a", 250))
	}
	_, err := io.WriteString(c, s.header(lines...)+strings.Repeat(" ", 4095))
	return err
}

// holdTwo sends as many requests as it may, without a window for their responses. They wait for
// the rest of their bodies, or have so many fields that they are refused.
func (s *site) holdTwo(c io.ReadWriter, many bool) error {
	if _, err := io.WriteString(c, http2.ClientPreface); err != nil {
		return err
	}
	framer := http2.NewFramer(c, c)
	if err := framer.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 0}); err != nil {
		return err
	}
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	for _, f := range s.fields(many) {
		if err := encoder.WriteField(f); err != nil {
			return err
		}
	}
	for stream := uint32(1); stream < 2*streams; stream += 2 {
		if err := writeHeaders(framer, stream, block.Bytes()); err != nil {
			return err
		}
		if err := framer.WriteData(stream, false, bytes.Repeat([]byte(" "), 500)); err != nil {
			return err
		}
	}
	return nil
}

// fields returns a header of the maximum size, of a create or with many fields.
func (s *site) fields(many bool) []hpack.HeaderField {
	fields := []hpack.HeaderField{
		{Name: ":method", Value: "POST"},
		{Name: ":scheme", Value: "https"},
		{Name: ":authority", Value: "x"},
		{Name: ":path", Value: "/plants"},
		{Name: "content-type", Value: "application/json"},
		{Name: "authorization", Value: "Bearer " + s.token},
		{Name: "content-length", Value: "4000"},
	}
	value, size := strings.Repeat("a", 250), 0
	if many {
		value = ""
	}
	for _, f := range fields {
		size += int(f.Size())
	}
	for n := 0; ; n++ {
		f := hpack.HeaderField{Name: fmt.Sprintf("%03d", n), Value: value}
		if size += int(f.Size()); size > headerBytes-100 {
			return fields
		}
		fields = append(fields, f)
	}
}

// writeHeaders writes a header in as many frames as necessary.
func writeHeaders(framer *http2.Framer, stream uint32, block []byte) error {
	const most = 16 << 10
	first := block[:min(len(block), most)]
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: first, EndHeaders: len(first) == len(block)}); err != nil {
		return err
	}
	for block = block[len(first):]; len(block) > 0; {
		n := min(len(block), most)
		if err := framer.WriteContinuation(stream, n == len(block), block[:n]); err != nil {
			return err
		}
		block = block[n:]
	}
	return nil
}
