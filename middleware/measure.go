package middleware

import (
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// Observe is told of each answer: the method of the request, the code of the Error,
// or 0 for a success, and how long it took.
type Observe func(method string, code models.Code, took time.Duration)

// Measure tells observe, if there is one, of each answer. Of a panic that passes
// through here there is no answer yet.
func Measure(observe Observe) gin.HandlerFunc {
	if observe == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		start := time.Now()
		c.Next()
		code := models.Code(0)
		if failure := lineOf(c).failure; failure != nil {
			code = failure.Code
		}
		observe(c.Request.Method, code, time.Since(start))
	}
}
