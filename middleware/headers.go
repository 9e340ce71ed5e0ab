package middleware

import (
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
