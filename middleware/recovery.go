package middleware

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"
)

// Recovery answers for a handler that panics, and leaves the panic and its
// stack to the access log. An answer that has begun cannot be taken back: then
// the connection is aborted, as it is for [http.ErrAbortHandler].
func Recovery() gin.HandlerFunc {
	return func(c *gin.Context) {
		defer func() {
			switch p := recover(); {
			case p == nil:
			case p == http.ErrAbortHandler, c.Writer.Written(): //nolint:errorlint // the very value, as net/http compares it
				panic(p)
			default:
				Fail(c, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
			}
		}()
		c.Next()
	}
}
