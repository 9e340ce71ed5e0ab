package middleware

import (
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/gin-gonic/gin"
)

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
