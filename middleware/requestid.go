package middleware

import (
	"crypto/rand"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

const requestIDHeader = "X-Request-Id"

// RequestID gives every answer an X-Request-Id: the client's own if it is sane,
// else a new one (C1.6).
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		ids := c.Request.Header[requestIDHeader]
		if len(ids) != 1 || !models.SaneRequestID(ids[0]) {
			ids = []string{rand.Text()}
		}
		c.Writer.Header()[requestIDHeader] = ids
		c.Next()
	}
}

// AnswerID returns the id that RequestID gave the answer, or "".
func AnswerID(c *gin.Context) string {
	return c.Writer.Header().Get(requestIDHeader)
}
