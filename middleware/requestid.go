package middleware

import (
	"github.com/gin-gonic/gin"

	"plantstore/models"
)

const requestIDHeader = "X-Request-Id"

// RequestID sets X-Request-Id on every response: the client's if it is valid, otherwise
// a random one (C1.6).
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Writer.Header()[requestIDHeader] = models.RequestID(c.Request.Header[requestIDHeader])
		c.Next()
	}
}

// RequestIDOf returns the id that [RequestID] has set, or "".
func RequestIDOf(c *gin.Context) string {
	return c.Writer.Header().Get(requestIDHeader)
}
