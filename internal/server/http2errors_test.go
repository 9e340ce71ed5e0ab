package server

import (
	"bytes"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// exchange sends a request in HTTP/2 with further fields, and returns the header of the
// response.
func exchange(t *testing.T, framer *http2.Framer, stream uint32, fields ...string) *http2.MetaHeadersFrame {
	t.Helper()
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	all := append([]string{":method", "GET", ":scheme", "https", ":authority", "x", ":path", "/good"}, fields...)
	for field := range slices.Chunk(all, 2) {
		if err := encoder.WriteField(hpack.HeaderField{Name: field[0], Value: field[1]}); err != nil {
			t.Fatal(err)
		}
	}
	if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: true}); err != nil {
		t.Fatal(err)
	}
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := frame.(*http2.MetaHeadersFrame); ok && f.StreamID == stream {
			return f
		}
	}
}

// TestOriginOfReplacedResponses checks that pages can read replaced responses as well. Their
// requests are not visible: the origin is from the request before, which was a preflight.
func TestOriginOfReplacedResponses(t *testing.T) {
	t.Parallel()
	s, authority := startSecure(t, func(_ *site, config *Config) { config.CORSHeader = echoOrigin })
	c := s.dialTLS(t, authority, http2Name).send(http2.ClientPreface)
	framer := http2.NewFramer(c, c.in)
	framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	if err := framer.WriteSettings(); err != nil {
		t.Fatal(err)
	}
	for i, step := range []struct {
		fields []string
		want   string // the status, and the allowed origin of the response
	}{
		{[]string{"connection", "close"}, "400 "},
		{[]string{"origin", allowedOrigin}, "200 "},
		{[]string{"origin", allowedOrigin, "connection", "close"}, "400 " + allowedOrigin},
		{[]string{"expect", "much"}, "400 "},                                                       // the server's own, which has the request
		{slices.Repeat([]string{"x-long", strings.Repeat("x", 3000)}, 12), "400 " + allowedOrigin}, // in a few bytes
		{[]string{"origin", "https://b.test"}, "200 "},
		{[]string{"connection", "close"}, "400 "},
	} {
		got := exchange(t, framer, uint32(2*i+1), step.fields...)
		origin := ""
		for _, field := range got.RegularFields() {
			if field.Name == "access-control-allow-origin" {
				origin = field.Value
			}
		}
		if response := got.PseudoValue("status") + " " + origin; response != step.want {
			t.Errorf("%.50q: %s, want %s", step.fields, response, step.want)
		}
	}
}

// responses writes responses as net/http does: of a handler, and a 431 and a bodiless 400 of
// its own.
func responses(t *testing.T) []byte {
	t.Helper()
	var out, block bytes.Buffer
	framer, encoder := http2.NewFramer(&out, nil), hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSizeLimit(noTable)
	head := func(stream uint32, end bool, status, kind, length string) {
		block.Reset()
		for _, field := range []hpack.HeaderField{{Name: ":status", Value: status}, {Name: "content-type", Value: kind}, {Name: "content-length", Value: length}} {
			if err := encoder.WriteField(field); err != nil {
				t.Fatal(err)
			}
		}
		if err := framer.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block.Bytes(), EndHeaders: true, EndStream: end}); err != nil {
			t.Fatal(err)
		}
	}
	data := func(stream uint32, end bool, text string) {
		if err := framer.WriteData(stream, end, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	text := "<h1>HTTP Error 431</h1><p>Request Header Field(s) Too Large</p>"
	head(1, false, "200", "application/json", "4")
	head(3, false, "431", "text/html", strconv.Itoa(len(text)))
	data(3, false, text[:30])
	data(1, true, `"ok"`)
	head(5, true, "400", "text/plain", "20")
	data(3, true, text[30:])
	head(7, false, "400", "application/json", "2")
	data(7, true, `{}`)
	return out.Bytes()
}

// TestResponseFilter checks that net/http's own responses are replaced, and no others, whatever
// the sizes of its writes.
func TestResponseFilter(t *testing.T) {
	t.Parallel()
	written := responses(t)
	for size := 1; size <= len(written); size++ {
		var out bytes.Buffer
		near, far := net.Pipe()
		_, _ = near.Close(), far.Close()
		c := newHTTP2Conn(&acceptedConn{Conn: near, server: New(testConfig())})
		filter := responseFilter{out: &out, replace: c.replace}
		for rest := written; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := filter.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		if len(filter.bodies) > 0 {
			t.Errorf("size %d: %d streams are remembered", size, len(filter.bodies))
		}
		status, bodies := map[uint32]string{}, map[uint32]string{}
		framer := http2.NewFramer(nil, &out)
		framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		for {
			frame, err := framer.ReadFrame()
			if errors.Is(err, io.EOF) {
				break
			}
			switch f := frame.(type) {
			case *http2.MetaHeadersFrame:
				status[f.StreamID] = f.PseudoValue("status")
			case *http2.DataFrame:
				bodies[f.StreamID] += string(f.Data())
			default:
				t.Fatalf("size %d: %v, %v", size, frame, err)
			}
		}
		if status[1] != "200" || status[3] != "400" || status[5] != "400" || status[7] != "400" {
			t.Errorf("size %d: %v", size, status)
		}
		if bodies[1] != `"ok"` || bodies[7] != `{}` || len(bodies[3]) != 63 ||
			!strings.HasPrefix(bodies[3], `{"error":431,"message":"the header is more than 32768 bytes"`) || !strings.HasSuffix(bodies[3], " \n") {
			t.Errorf("size %d: %v", size, bodies)
		}
	}
}
