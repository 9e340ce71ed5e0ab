package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"plantstore/models"
)

const (
	// status200 is the first byte of the header of a response with status 200 (RFC 7541,
	// appendix A, index 8).
	status200 = 0x88
	// maxReplaced bounds the replaced responses that are not sent yet.
	maxReplaced = 2 * maxStreams
	// noTable keeps the headers of responses from referring to earlier ones, so that
	// [responseFilter] can replace one. 0 would mean the default.
	noTable = 1
)

// errReplaced is the error of a connection that exceeds maxReplaced.
var errReplaced = errors.New("too many error responses that the client does not read")

// A responseFilter replaces net/http's own responses in the output on a connection
// of HTTP/2: to a header that is too large, and to fields that HTTP/2 forbids (C1.3). No
// limit or setting avoids them. Handlers send errors only as 400 with JSON, so any other
// response with a status of 400 or more is net/http's.
//
// A replaced body has the same length, so that flow control stays correct on both sides.
type responseFilter struct {
	out     io.Writer
	replace func(status, length int) (header http.Header, body []byte)

	frame  frameCursor
	block  []byte            // payload of the current frame, if it is a header
	bodies map[uint32][]byte // by stream: the rest of the replaced body
	send   []byte            // to be written
}

func (f *responseFilter) Write(p []byte) (int, error) {
	f.send = f.send[:0]
	for rest := p; len(rest) > 0; {
		var payload []byte
		payload, rest = f.frame.advance(rest)
		switch {
		case !f.frame.known():
			continue
		case payload == nil:
			f.begin()
		default:
			f.payload(payload)
		}
		if f.frame.left == 0 {
			f.end()
		}
	}
	switch {
	case len(f.bodies) > maxReplaced:
		return 0, errReplaced
	case len(f.send) == 0:
		return len(p), nil
	}
	if _, err := f.out.Write(f.send); err != nil {
		return 0, err
	}
	if cap(f.send) > 2*maxFrame { // an idle connection keeps little memory
		f.send = nil
	}
	return len(p), nil
}

// begin handles the head of a frame.
func (f *responseFilter) begin() {
	f.block = f.block[:0]
	if f.frame.kind() != http2.FrameHeaders {
		f.send = append(f.send, f.frame.head[:]...)
	}
}

// payload handles a part of the payload of a frame.
func (f *responseFilter) payload(p []byte) {
	stream := f.frame.stream()
	switch body, replaced := f.bodies[stream]; {
	case f.frame.kind() == http2.FrameHeaders:
		f.block = append(f.block, p...)
	case f.frame.kind() == http2.FrameData && replaced:
		n := min(len(p), len(body))
		f.send = append(f.send, body[:n]...)
		f.bodies[stream] = body[n:]
	default:
		f.send = append(f.send, p...)
	}
}

// end handles the end of a frame.
func (f *responseFilter) end() {
	kind, flags := f.frame.kind(), f.frame.flags()
	switch {
	case kind == http2.FrameHeaders:
		f.header()
	case kind == http2.FrameRSTStream, kind == http2.FrameData && flags.Has(http2.FlagDataEndStream):
		delete(f.bodies, f.frame.stream())
	}
}

// header passes a header on, or replaces it.
func (f *responseFilter) header() {
	status, length, own := f.parse()
	if !own {
		f.send = append(append(f.send, f.frame.head[:]...), f.block...)
		return
	}
	header, body := f.replace(status, length)
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block) // a buffer does not fail
	encoder.SetMaxDynamicTableSize(0)
	_ = encoder.WriteField(hpack.HeaderField{Name: ":status", Value: strconv.Itoa(http.StatusBadRequest)})
	for name, values := range header {
		for _, value := range values {
			_ = encoder.WriteField(hpack.HeaderField{Name: strings.ToLower(name), Value: value})
		}
	}
	binary.BigEndian.PutUint32(f.frame.head[:], uint32(block.Len())<<8|uint32(http2.FrameHeaders)) //nolint:gosec // it is short
	f.send = append(append(f.send, f.frame.head[:]...), block.Bytes()...)
	if f.frame.flags().Has(http2.FlagHeadersEndStream) {
		return
	}
	if f.bodies == nil {
		f.bodies = make(map[uint32][]byte)
	}
	f.bodies[f.frame.stream()] = body
}

// parse returns the status of a header and the length of its body, and reports whether the
// response is net/http's own. Its header is always a single frame.
func (f *responseFilter) parse() (status, length int, own bool) {
	if len(f.block) > 0 && f.block[0] == status200 || !f.frame.flags().Has(http2.FlagHeadersEndHeaders) {
		return 0, 0, false
	}
	json := false
	decoder := hpack.NewDecoder(noTable, func(field hpack.HeaderField) {
		switch field.Name {
		case ":status":
			status, _ = strconv.Atoi(field.Value)
		case "content-type":
			json = strings.HasPrefix(field.Value, "application/json")
		case "content-length":
			length, _ = strconv.Atoi(field.Value)
		}
	})
	decoder.SetAllowedMaxDynamicTableSize(1 << 12)
	if _, err := decoder.Write(f.block); err != nil {
		return 0, 0, false
	}
	return status, length, status >= int(models.CodeBadRequest) && !json
}
