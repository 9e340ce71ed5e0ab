package middleware

import (
	"crypto/rand"
	"strings"

	"github.com/gin-gonic/gin"
)

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 128
)

// RequestID gives every answer an X-Request-Id: the client's own if it is sane,
// else a new one (C1.6). Sane are 1 to 128 letters, digits and "-._~+/=:@".
func RequestID() gin.HandlerFunc {
	return func(c *gin.Context) {
		ids := c.Request.Header[requestIDHeader]
		if len(ids) != 1 || !saneRequestID(ids[0]) {
			ids = []string{rand.Text()}
		}
		c.Writer.Header()[requestIDHeader] = ids
		c.Next()
	}
}

// requestID returns the id that RequestID gave the answer.
func requestID(c *gin.Context) string {
	return c.Writer.Header().Get(requestIDHeader)
}

func saneRequestID(id string) bool {
	return id != "" && len(id) <= maxRequestID && !strings.ContainsFunc(id, insane)
}

func insane(r rune) bool {
	switch {
	case 'A' <= r && r <= 'Z', 'a' <= r && r <= 'z', '0' <= r && r <= '9':
		return false
	default:
		return !strings.ContainsRune("-._~+/=:@", r)
	}
}
