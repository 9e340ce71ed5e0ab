package server

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strconv"
	"strings"

	"golang.org/x/net/http2/hpack"

	"plantstore/models"
)

// What the filter knows of the frames of HTTP/2 (RFC 9113, 4.1, 6.1 and 6.2).
const (
	frameHead    = 9
	frameData    = 0x0
	frameHeaders = 0x1
	frameReset   = 0x3

	flagEndStream  = 0x1
	flagEndHeaders = 0x4
)

// status200 is how a header of an answer begins whose status is 200 (RFC 7541,
// appendix A, index 8).
const status200 = 0x88

// maxReplaced bounds the answers that are replaced and still to be sent.
const maxReplaced = 2 * maxStreams

// errReplaced is the error of a connection with more of them.
var errReplaced = errors.New("too many refused requests whose answers are not taken")

// An answerFilter passes on what net/http writes on a connection of HTTP/2, but
// for answers that net/http has made up itself: to a header that is too large,
// and to fields that HTTP/2 does not have. An Error takes their place (C1.3). All
// failures that handlers answer with are status 400 in JSON, so that any other is
// one of those.
//
// The body that takes the place of another is as long, so that the counts of flow
// control stay right on both sides.
type answerFilter struct {
	out     io.Writer
	refusal func(status, length int) (header []hpack.HeaderField, body []byte)

	head    [frameHead]byte   // of the current frame
	have    int               // bytes of head
	left    int               // bytes of the frame that are still to come
	block   []byte            // what has come of it, if it is a header
	replace map[uint32][]byte // what is still to be sent on a stream, in place of what comes
	send    []byte            // what is passed on
}

// Write implements [io.Writer].
func (f *answerFilter) Write(p []byte) (int, error) {
	f.send = f.send[:0]
	for rest := p; len(rest) > 0; {
		if f.have < frameHead {
			n := copy(f.head[f.have:], rest)
			f.have += n
			rest = rest[n:]
			if f.have == frameHead {
				f.begin()
			}
			continue
		}
		n := min(f.left, len(rest))
		f.payload(rest[:n])
		f.left -= n
		rest = rest[n:]
		if f.left == 0 {
			f.end()
		}
	}
	switch {
	case len(f.replace) > maxReplaced:
		return 0, errReplaced
	case len(f.send) == 0:
		return len(p), nil
	}
	if _, err := f.out.Write(f.send); err != nil {
		return 0, err
	}
	if cap(f.send) > 2*frameTwo { // an idle connection keeps little memory
		f.send = nil
	}
	return len(p), nil
}

func (f *answerFilter) kind() byte { return f.head[3] }

func (f *answerFilter) flags() byte { return f.head[4] }

func (f *answerFilter) stream() uint32 { return binary.BigEndian.Uint32(f.head[5:]) }

// begin is called when the head of a frame has come.
func (f *answerFilter) begin() {
	f.left = int(binary.BigEndian.Uint32(f.head[:]) >> 8)
	f.block = f.block[:0]
	if f.kind() != frameHeaders {
		f.send = append(f.send, f.head[:]...)
	}
	if f.left == 0 {
		f.end()
	}
}

// payload passes on what has come of the payload of a frame.
func (f *answerFilter) payload(p []byte) {
	switch body, replaced := f.replace[f.stream()]; {
	case f.kind() == frameHeaders:
		f.block = append(f.block, p...)
	case f.kind() == frameData && replaced:
		n := min(len(p), len(body))
		f.send = append(f.send, body[:n]...)
		f.replace[f.stream()] = body[n:]
	default:
		f.send = append(f.send, p...)
	}
}

// end is called when a frame has come whole.
func (f *answerFilter) end() {
	f.have = 0
	switch {
	case f.kind() == frameHeaders:
		f.header()
	case f.kind() == frameReset, f.kind() == frameData && f.flags()&flagEndStream != 0:
		delete(f.replace, f.stream())
	}
}

// header passes on a header, or what takes its place.
func (f *answerFilter) header() {
	status, length, refused := f.refused()
	if !refused {
		f.send = append(append(f.send, f.head[:]...), f.block...)
		return
	}
	bodiless := f.flags()&flagEndStream != 0
	fields, body := f.refusal(status, length)
	var block bytes.Buffer
	encoder := hpack.NewEncoder(&block)
	encoder.SetMaxDynamicTableSize(0)
	for _, field := range fields {
		_ = encoder.WriteField(field) // a buffer takes everything
	}
	binary.BigEndian.PutUint32(f.head[:], uint32(block.Len())<<8|frameHeaders) //nolint:gosec // a header of ours is short
	f.send = append(append(f.send, f.head[:]...), block.Bytes()...)
	if bodiless {
		return
	}
	if f.replace == nil {
		f.replace = make(map[uint32][]byte)
	}
	f.replace[f.stream()] = body
}

// refused reports whether the header that has come is that of an answer of
// net/http's own, which is short, and if so what its status is, and the length of
// its body.
func (f *answerFilter) refused() (status, length int, refused bool) {
	if len(f.block) > 0 && f.block[0] == status200 || f.flags()&flagEndHeaders == 0 {
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
