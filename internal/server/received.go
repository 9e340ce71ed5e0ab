package server

import (
	"bytes"
	"context"
	"strings"
	"sync"
)

// usualHeader is the size in bytes up to which the memory of a header is kept for the next one.
const usualHeader = 1 << 10

// received has the header of the current request as it was received: net/http keeps neither the order
// of its fields nor the spelling of their names.
type received struct {
	mu   sync.Mutex // net/http reads in the background during a request
	text []byte     // from the request line on
	body uint64     // bytes of a body that are still to come
}

// add adds bytes that were read from the connection. A nil received drops them.
func (r *received) add(p []byte) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	skipped := min(r.body, uint64(len(p)))
	r.body -= skipped
	r.text = append(r.text, p[skipped:]...)
}

// take returns the header of a request with that Content-Length, without the blank line, when its
// handler begins. It is -1 for a chunked body, after which the connection closes.
func (r *received) take(contentLength int64) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	text, size := bytes.TrimLeft(r.text, "\r\n"), 0 // net/http skips blank lines after a POST
	for line := range bytes.Lines(text) {
		if size += len(line); string(line) == "\r\n" || string(line) == "\n" {
			break
		}
	}
	header, rest := string(text[:size]), text[size:]
	skipped := min(uint64(contentLength), uint64(len(rest)))
	r.body, r.text = uint64(contentLength)-skipped, append(r.text[:0], rest[skipped:]...) // a pipelined request
	if cap(r.text) > usualHeader {
		r.text = bytes.Clone(r.text)
	}
	return strings.TrimRight(header, "\r\n")
}

// headerKey is the key of the context value that is the text of [ReceivedHeader].
type headerKey struct{}

// ReceivedHeader returns the request line and the header fields of the request with that context as
// they were received. They are empty without [Config.KeepHeaders].
func ReceivedHeader(ctx context.Context) string {
	text, _ := ctx.Value(headerKey{}).(string)
	return text
}
