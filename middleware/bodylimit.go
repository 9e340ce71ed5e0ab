package middleware

import (
	"errors"
	"io"
	"os"
	"sync"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// smallBody is the size in bytes up to which a body is not counted: it is part of the
// cost of its connection.
const smallBody = 4 << 10

// BodyLimit rejects a body of more than limit bytes: immediately by its Content-Length,
// otherwise while it is read (C2.15). It also rejects a body if the bodies of all requests
// together exceed 64 MiB, or four times the limit if that is more, or those of one token subject a
// quarter of that. Only bytes that were read count, so that a client can't exhaust the memory by announcing
// large bodies, and only those of bodies of more than 4 KiB. Reading the body fails with a
// [models.Error] of CodeBadRequest, CodeRequestTimeout, CodeContentTooLarge or CodeUnavailable.
func BodyLimit(limit int64) gin.HandlerFunc {
	memory := &bodyMemory{limit: max(64<<20, 4*limit), bySubject: make(map[string]int64)}
	return func(c *gin.Context) {
		if c.Request.ContentLength > limit {
			Fail(c, models.TooLarge(limit))
			return
		}
		body := &limitedBody{ReadCloser: c.Request.Body, limit: limit, memory: memory, subject: OutcomeOf(c).Subject}
		c.Request.Body = body
		defer func() {
			memory.release(body.subject, body.held)
			c.Request.Body = body.ReadCloser
		}()
		c.Next()
	}
}

// errOutOfMemory and errShareUsed are the Errors of a body for which there is no memory.
var (
	errOutOfMemory = models.NewError(models.CodeUnavailable,
		"the plant was not stored: the server is overloaded with large bodies; try again later")
	errShareUsed = models.NewError(models.CodeUnavailable, "the plant was not stored: other large bodies "+
		"for the subject (sub) of this access token use its share of the memory; send fewer at a time")
)

// A bodyMemory counts the bytes of memory of all bodies.
type bodyMemory struct {
	limit int64

	mu        sync.Mutex
	used      int64
	bySubject map[string]int64 // parts of used, without zeros
}

// acquire counts n more bytes for a subject, unless they exceed a limit.
func (m *bodyMemory) acquire(subject string, n int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.used+n > m.limit:
		return errOutOfMemory
	case m.bySubject[subject]+n > m.limit/4:
		return errShareUsed
	}
	m.used += n
	m.bySubject[subject] += n
	return nil
}

// release counts n bytes less for a subject.
func (m *bodyMemory) release(subject string, n int64) {
	if n == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.used -= n
	if m.bySubject[subject] -= n; m.bySubject[subject] == 0 {
		delete(m.bySubject, subject)
	}
}

// A limitedBody is a request body with a limit, whose errors are Errors.
type limitedBody struct {
	io.ReadCloser
	limit   int64 // maximum of size
	size    int64 // bytes read
	memory  *bodyMemory
	subject string
	held    int64 // bytes of memory that are counted
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	if b.size > b.limit {
		return n, models.TooLarge(b.limit)
	}
	if more := b.size - b.held; b.size > smallBody && more > 0 {
		if err := b.memory.acquire(b.subject, more); err != nil {
			return n, err
		}
		b.held = b.size
	}
	return n, readError(err)
}

// readError returns the Error for an error of reading, and other results unchanged.
func readError(err error) error {
	switch {
	case err == nil, errors.Is(err, io.EOF):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return models.NewError(models.CodeRequestTimeout,
			"the body came too slowly; send the whole request faster")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return models.NewError(models.CodeBadRequest,
			"the body is shorter than its Content-Length or lacks its last chunk")
	default:
		return models.NewError(models.CodeBadRequest,
			"the body could not be read; check that it is as long as its Content-Length, or the form of its chunks").WithCause(err)
	}
}
