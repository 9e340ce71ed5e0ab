package middleware

import (
	"errors"
	"io"
	"net/http"
	"os"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// BodyLimit refuses a body of more than limit bytes: at once if its length is
// announced, else as soon as it proves too long (C2.15). What goes wrong while
// a handler reads the body reaches it as a [models.Error] of CodeBadRequest,
// CodeRequestTimeout or CodeContentTooLarge.
func BodyLimit(limit int64) gin.HandlerFunc {
	return func(c *gin.Context) {
		body := &limitedBody{
			ReadCloser: http.MaxBytesReader(nil, c.Request.Body, limit),
			header:     c.Writer.Header(),
		}
		if c.Request.ContentLength > limit {
			Fail(c, body.fault(&http.MaxBytesError{Limit: limit}))
			return
		}
		c.Request.Body = body
		c.Next()
	}
}

// A limitedBody is a request body whose faults have a name.
type limitedBody struct {
	io.ReadCloser
	header http.Header // of the answer
}

// Read implements [io.Reader].
func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF { //nolint:errorlint // EOF is never wrapped, by contract of io.Reader
		err = b.fault(err)
	}
	return n, err
}

// fault turns an error of reading into an Error. What is left of the body makes
// the connection useless for a next request, so the answer ends it.
func (b *limitedBody) fault(err error) *models.Error {
	b.header.Set("Connection", "close")
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return models.Errorf(models.CodeContentTooLarge,
			"the body is larger than the limit of %d bytes", tooLarge.Limit)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return models.NewError(models.CodeRequestTimeout,
			"the body came too slowly; send the whole request faster")
	case errors.Is(err, io.ErrUnexpectedEOF):
		return models.NewError(models.CodeBadRequest,
			"the body is shorter than its Content-Length or lacks its last chunk")
	default:
		return models.NewError(models.CodeBadRequest,
			"the body could not be read; check its Transfer-Encoding: chunked").WithCause(err)
	}
}
