package middleware

import (
	"log/slog"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// AccessLog writes one line a request: what was asked and how it ended, with the
// cause that the client is not told. A fault of the server is at level error, a
// refusal for want of space or time at level warn, all else at level info. The
// query is left out: a client may have put a token there.
func AccessLog(logger *slog.Logger) gin.HandlerFunc {
	return func(c *gin.Context) {
		start := time.Now()
		defer func() { logRequest(logger, c, time.Since(start)) }() // after a panic, too
		c.Next()
	}
}

func logRequest(logger *slog.Logger, c *gin.Context, took time.Duration) {
	ctx := c.Request.Context()
	level, outcome := outcomeOf(c)
	if !logger.Enabled(ctx, level) {
		return
	}
	logger.LogAttrs(ctx, level, "request", append([]slog.Attr{
		slog.String("request_id", requestID(c)),
		slog.String("method", c.Request.Method),
		slog.String("path", c.Request.URL.Path),
		slog.String("remote", c.Request.RemoteAddr),
		slog.String("subject", c.GetString(subjectKey)),
		slog.Duration("duration", took),
	}, outcome...)...)
}

// outcomeOf returns how a request ended, and the level at which to say so.
func outcomeOf(c *gin.Context) (slog.Level, []slog.Attr) {
	failure, failed := c.Value(failureKey).(*models.Error)
	if !failed {
		return slog.LevelInfo, []slog.Attr{slog.Int("status", c.Writer.Status())}
	}
	attrs := []slog.Attr{
		slog.Int("status", c.Writer.Status()),
		slog.Int("error", int(failure.Code)),
		slog.String("message", failure.Message),
	}
	if cause := failure.Unwrap(); cause != nil {
		attrs = append(attrs, slog.String("cause", cause.Error()))
	}
	switch {
	case failure.Code < models.CodeInternal:
		return slog.LevelInfo, attrs
	case failure.Code == models.CodeInternal:
		return slog.LevelError, attrs
	default: // for a while, and nobody's fault
		return slog.LevelWarn, attrs
	}
}
