package middleware

import "github.com/gin-gonic/gin"

// NoSniff sets X-Content-Type-Options: nosniff on every response (C1.6), so that
// browsers trust its Content-Type.
func NoSniff() gin.HandlerFunc {
	value := []string{"nosniff"}
	return func(c *gin.Context) {
		c.Writer.Header()["X-Content-Type-Options"] = value
		c.Next()
	}
}
