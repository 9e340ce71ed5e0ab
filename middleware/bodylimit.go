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

// smallBody is the size in bytes up to which a body counts as part of what its
// connection costs.
const smallBody = 4 << 10

// BodyMemory returns how many bytes of bodies BodyLimit lets requests hold at a
// time, those of up to 4 KiB not counted.
func BodyMemory(limit int64) int64 { return max(64<<20, 4*limit) }

// errTooLarge is the error of reading a body beyond its limit.
var errTooLarge = errors.New("the body is larger than its limit")

// errNoRoom is the error of reading a body when those in hand are BodyMemory.
var errNoRoom = errors.New("as many large bodies are in hand as may be")

// BodyLimit refuses a body of more than limit bytes: at once if its length is
// announced, else as soon as it proves too long (C2.15). In the same way it
// refuses one for which there is no room beside the bodies of the requests that
// are not answered yet, see [BodyMemory]. What goes wrong while a handler reads
// the body reaches it as a [models.Error] of CodeBadRequest, CodeRequestTimeout,
// CodeContentTooLarge or CodeUnavailable.
func BodyLimit(limit int64) gin.HandlerFunc {
	inHand, most := new(atomic.Int64), BodyMemory(limit)
	bodies := sync.Pool{New: func() any { return new(limitedBody) }}
	return func(c *gin.Context) {
		body := bodies.Get().(*limitedBody) //nolint:forcetypeassert // nothing else is put there
		*body = limitedBody{
			ReadCloser: c.Request.Body,
			header:     c.Writer.Header(),
			limit:      limit,
			share:      share{of: inHand, most: most},
		}
		defer func() {
			body.share.release()
			c.Request.Body = body.ReadCloser
			*body = limitedBody{}
			bodies.Put(body)
		}()
		if c.Request.ContentLength > limit {
			Fail(c, body.fault(errTooLarge))
			return
		}
		if !body.share.cover(c.Request.ContentLength) {
			Fail(c, body.fault(errNoRoom))
			return
		}
		c.Request.Body = body
		c.Next()
	}
}

// A share is what one request holds of the memory for bodies.
type share struct {
	of   *atomic.Int64 // what all hold
	most int64         // what all may hold
	held int64
}

// cover makes the share large enough for that many bytes, or reports that it
// cannot.
func (s *share) cover(size int64) bool {
	more := size - s.held
	if size <= smallBody || more <= 0 {
		return true
	}
	if s.of.Add(more) > s.most {
		s.of.Add(-more)
		return false
	}
	s.held = size
	return true
}

// release gives all of the share back.
func (s *share) release() {
	if s.held > 0 {
		s.of.Add(-s.held)
		s.held = 0
	}
}

// A limitedBody is a request body whose faults have a name.
type limitedBody struct {
	io.ReadCloser
	header http.Header // of the answer
	share  share
	limit  int64 // of size
	size   int64 // of what has been read
}

// Read implements [io.Reader].
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.size += int64(n)
	if b.size > b.limit {
		return n, b.fault(errTooLarge)
	}
	if !b.share.cover(b.size) {
		return n, b.fault(errNoRoom)
	}
	if err != nil && err != io.EOF { //nolint:errorlint // EOF is never wrapped, by contract of io.Reader
		err = b.fault(err)
	}
	return n, err
}

// fault turns an error of reading into an Error. What is left of the body makes
// the connection useless for a next request, so the answer ends it.
func (b *limitedBody) fault(err error) *models.Error {
	b.header.Set("Connection", "close")
	switch {
	case errors.Is(err, errTooLarge):
		return models.Errorf(models.CodeContentTooLarge,
			"the body is larger than the limit of %d bytes", b.limit)
	case errors.Is(err, errNoRoom):
		return models.NewError(models.CodeUnavailable,
			"the plant was not stored: the server is overloaded with large bodies; try again later").WithCause(err)
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
