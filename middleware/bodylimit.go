package middleware

import (
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
	"sync/atomic"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// smallBody is the size in bytes up to which a body is not counted: it is part of the
// cost of its connection.
const smallBody = 4 << 10

// BodyMemory returns the limit of [BodyLimit] for the bytes of all bodies at a time.
// Bodies of up to 4 KiB are not counted.
func BodyMemory(limit int64) int64 { return max(64<<20, 4*limit) }

// errOutOfMemory is the cause of the Error when all bodies together exceed BodyMemory.
var errOutOfMemory = errors.New("the memory for request bodies is exhausted")

// BodyLimit rejects a body of more than limit bytes: immediately by its Content-Length,
// otherwise while it is read (C2.15). It also rejects a body if the bodies of all
// requests together exceed [BodyMemory]. Only bytes that were read count, so that a
// client can't exhaust the memory by announcing large bodies. Reading the body fails
// with a [models.Error] of CodeBadRequest, CodeRequestTimeout, CodeContentTooLarge or
// CodeUnavailable.
func BodyLimit(limit int64) gin.HandlerFunc {
	used := new(atomic.Int64)
	bodies := sync.Pool{New: func() any { return new(limitedBody) }}
	return func(c *gin.Context) {
		body := bodies.Get().(*limitedBody) //nolint:forcetypeassert // nothing else is put there
		*body = limitedBody{
			ReadCloser: c.Request.Body,
			header:     c.Writer.Header(),
			limit:      limit,
			used:       used,
		}
		defer func() {
			if body.held > 0 {
				used.Add(-body.held)
			}
			c.Request.Body = body.ReadCloser
			*body = limitedBody{}
			bodies.Put(body)
		}()
		if c.Request.ContentLength > limit {
			Fail(c, body.readError(models.TooLarge(limit)))
			return
		}
		c.Request.Body = body
		c.Next()
	}
}

// A limitedBody is a request body with a limit, whose errors are Errors.
type limitedBody struct {
	io.ReadCloser
	header http.Header   // of the response
	limit  int64         // maximum of size
	size   int64         // bytes read
	used   *atomic.Int64 // bytes of memory of all bodies
	held   int64         // part of used
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	switch {
	case b.size > b.limit:
		err = models.TooLarge(b.limit)
	case !b.hold():
		err = models.NewError(models.CodeUnavailable,
			"the plant was not stored: the server is overloaded with large bodies; try again later").WithCause(errOutOfMemory)
	case err == nil, err == io.EOF: //nolint:errorlint // EOF is never wrapped, by contract of io.Reader
		return n, err
	}
	return n, b.readError(err)
}

// hold counts the bytes read in the memory of all bodies, and reports whether its limit allows
// it.
func (b *limitedBody) hold() bool {
	more := b.size - b.held
	if b.size <= smallBody || more == 0 {
		return true
	}
	if b.used.Add(more) > BodyMemory(b.limit) {
		b.used.Add(-more)
		return false
	}
	b.held = b.size
	return true
}

// readError returns the Error for an error of reading. The rest of the body makes the
// connection unusable for another request, so the response closes it.
func (b *limitedBody) readError(err error) *models.Error {
	b.header.Set("Connection", "close")
	if failure, ok := errors.AsType[*models.Error](err); ok { // of a limit, or of the server at a shutdown
		return failure
	}
	switch {
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
