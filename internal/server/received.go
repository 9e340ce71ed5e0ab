package server

import (
	"bytes"
	"sync"
)

// HeaderKey is the key of the context value that is the text of the request line and the header fields
// as they were received, without the blank line. There is none without [Config.KeepHeaders].
type HeaderKey struct{}

// received has the header of the current request as it was received: net/http keeps neither the order
// of its fields nor the spelling of their names.
type received struct {
	keep bool
	mu   sync.Mutex // net/http reads in the background during a request
	text []byte     // from the request line on
	body uint64     // bytes of a body that are still to come
}

// add adds bytes that were read from the connection.
func (r *received) add(p []byte) {
	if !r.keep {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	skipped := min(r.body, uint64(len(p)))
	r.body -= skipped
	r.text = append(r.text, p[skipped:]...)
}

// take returns the header of a request with that Content-Length when its handler begins. It is -1 for a
// chunked body, after which the connection closes. The rest may be a pipelined request.
func (r *received) take(contentLength int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, size := bytes.TrimLeft(r.text, "\r\n"), 0 // net/http skips blank lines after a POST
	for line := range bytes.Lines(text) {
		if size += len(line); string(line) == "\r\n" || string(line) == "\n" {
			break
		}
	}
	header, rest := string(bytes.TrimRight(text[:size], "\r\n")), text[size:]
	skipped := min(uint64(contentLength), uint64(len(rest)))
	r.body, r.text = uint64(contentLength)-skipped, append(r.text[:0], rest[skipped:]...)
	if cap(r.text) > 1<<10 { // an idle connection keeps no more
		r.text = bytes.Clone(r.text)
	}
	return header
}
