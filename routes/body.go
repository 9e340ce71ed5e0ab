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

// read reads the whole body of a request, then decodes and validates it into plant. Gin's own
// bindings accept bodies that the contract rejects, and have other error messages.
func (p plants) read(r *http.Request, plant *models.NewPlant) error {
	buffer := p.buffers.Get().(*[]byte) //nolint:forcetypeassert // nothing else is put there
	defer func() {
		if cap(*buffer) <= usualBody {
			*buffer = (*buffer)[:0]
			p.buffers.Put(buffer)
		}
	}()
	if err := readBody(buffer, r.Body, r.ContentLength); err != nil {
		return err
	}
	if len(*buffer) > usualBody {
		p.large <- struct{}{}
		defer func() { <-p.large }()
	}
	return p.decoder.Decode(*buffer, plant)
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
