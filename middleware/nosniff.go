package middleware

import "github.com/gin-gonic/gin"

// NoSniff tells browsers to take every answer for what its Content-Type says
// (C1.6).
func NoSniff() gin.HandlerFunc {
	value := []string{"nosniff"}
	return func(c *gin.Context) {
		c.Writer.Header()["X-Content-Type-Options"] = value
		c.Next()
	}
}
