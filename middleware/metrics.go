package middleware

import (
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// Observe records a response: the method of the request, the code of the Error (0 for
// a success), and the time that the request took. Responses with a fault on demand are
// not recorded.
type Observe func(method string, code models.Code, took time.Duration)

// Metrics calls observe, unless it is nil, for each response. It does not observe a
// request whose panic it sees, since that has no response yet.
func Metrics(observe Observe) gin.HandlerFunc {
	if observe == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		l, code := lineOf(c), models.Code(0)
		if l.failure != nil {
			code = l.failure.Code
		}
		if l.madeFault() != (models.Fault{}) {
			return
		}
		observe(c.Request.Method, code, time.Since(start))
	}
}
