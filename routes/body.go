package routes

import (
	"io"
	"net/http"

	"plantstore/models"
)

const (
	// firstBuffer is the initial size of a buffer in bytes.
	firstBuffer = 1 << 10
	// usualBody is the maximum size in bytes of pooled buffers.
	usualBody = 64 << 10
	// largeDecodes limits how many larger bodies are decoded concurrently. A body of
	// many short fields takes up to 20 times its size while it is decoded.
	largeDecodes = 2
)

// An input is a body, and the plant that was decoded from it. Inputs are pooled.
type input struct {
	body  []byte
	plant models.NewPlant
}

func newInput() any { return &input{body: make([]byte, 0, firstBuffer)} }

// release returns an input to the pool.
func (p plants) release(in *input) {
	if cap(in.body) <= usualBody {
		in.body, in.plant = in.body[:0], models.NewPlant{}
		p.inputs.Put(in)
	}
}

// read reads the whole body of a request, then decodes and validates it. Gin's own
// bindings accept bodies that the contract rejects, and have other error messages.
func (p plants) read(r *http.Request, in *input) error {
	if err := readBody(&in.body, r.Body, r.ContentLength); err != nil {
		return err
	}
	if len(in.body) > usualBody {
		p.large <- struct{}{}
		defer func() { <-p.large }()
	}
	return p.decoder.Decode(in.body, &in.plant)
}

// readBody reads a body into an empty buffer. The buffer doubles as bytes arrive, so that
// it never exceeds twice the bytes that were read. The Content-Length only caps it.
func readBody(buffer *[]byte, body io.Reader, contentLength int64) error {
	for {
		have := len(*buffer)
		if have == cap(*buffer) {
			more := have
			if left := contentLength + 1 - int64(have); left > 0 { // one more byte to read EOF
				more = int(min(int64(more), left))
			}
			*buffer = append(make([]byte, 0, have+more), *buffer...)
		}
		n, err := body.Read((*buffer)[have:cap(*buffer)])
		*buffer = (*buffer)[:have+n]
		switch err { // EOF is never wrapped, by contract of io.Reader
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}
