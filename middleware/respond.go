// Package middleware contains the Gin middleware, and the functions that write responses. Only [Fail] turns an
// error of a handler into a response.
package middleware

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

const requestIDHeader = "X-Request-Id"

// Headers sets the header fields of every response (C1.6): X-Request-Id, the client's if it is
// valid, otherwise a random one; and nosniff, so that browsers trust its Content-Type.
func Headers() gin.HandlerFunc {
	nosniff := []string{"nosniff"}
	return func(c *gin.Context) {
		header := c.Writer.Header()
		header[requestIDHeader] = models.RequestID(c.Request.Header[requestIDHeader])
		header["X-Content-Type-Options"] = nosniff
	}
}

// Recovery responds with an internal error if a handler panics; the access log gets
// the panic and its stack. If the response has begun, Recovery aborts the connection,
// as for [http.ErrAbortHandler].
func Recovery() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler, c.Writer.Written(): //nolint:errorlint // compared by ==, as net/http does
				panic(p)
			default:
				Fail(c, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		c.Next()
	}
}

// OK responds with status 200 and the plant as JSON, which ends with a newline (C1.2).
func OK(c *gin.Context, plant models.Plant) {
	encoded, err := plant.AppendJSON(OutcomeOf(c).response)
	if err != nil {
		Fail(c, err)
		return
	}
	write(c, http.StatusOK, append(encoded, '\n'))
}

// Fail aborts the request and responds with status 400 and an Error (C1.3). An error
// that is not a [models.Error] is reported to the client as an internal error without
// details (C1.5), and to the access log with them.
func Fail(c *gin.Context, err error) {
	var failure *models.Error
	if !errors.As(err, &failure) {
		failure = models.NewError(models.CodeInternal,
			"the server failed; try again, and report the X-Request-Id if the error persists").WithCause(err)
	}
	OutcomeOf(c).Error = failure
	c.Abort()
	if failure.Code.Temporary() {
		c.Header("Retry-After", models.RetryAfter)
	}
	write(c, http.StatusBadRequest, failure.Body())
}

// NotFound responds to a request for an unknown path.
func NotFound(c *gin.Context) {
	Fail(c, models.NewError(models.CodeNotFound, "there is nothing at this path; create a plant with POST /plants"))
}

// MethodNotAllowed responds to a request whose method its path does not have. The router has
// set Allow. A preflight gets here if its origin is not allowed (C3.19).
func MethodNotAllowed(c *gin.Context) {
	if origin := c.Request.Header["Origin"]; len(origin) > 0 && isPreflight(c.Request) {
		Fail(c, models.Errorf(models.CodeMethodNotAllowed,
			"pages of the origin %s cannot use this service: it is not in CORS_ORIGINS of the server", shown(origin)))
		return
	}
	allowed := strings.ReplaceAll(c.Writer.Header().Get("Allow"), ", ", " or ")
	Fail(c, models.NewError(models.CodeMethodNotAllowed, "this path does not support this method; send "+allowed))
}

// jsonType is the value of Content-Type.
var jsonType = []string{"application/json"} //nolint:gochecknoglobals // never changed

// write sends a response. Its body is complete, so that a failure to encode never
// leaves a partial response.
func write(c *gin.Context, status int, encoded []byte) {
	header := c.Writer.Header()
	header["Content-Type"] = jsonType
	c.Status(status)
	_, _ = c.Writer.Write(encoded) // best effort: the client is gone
}
