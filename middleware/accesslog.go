package middleware

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// AccessLog writes one line a request: what was asked and how it ended, with the
// cause that the client is not told. A fault of the server is at level error, a
// refusal for want of space or time at level warn, all else at level info. The
// query is left out: a client may have put a token there.
func AccessLog(logger *slog.Logger) gin.HandlerFunc {
	memory := sync.Pool{New: func() any { return make(map[any]any) }}
	return func(c *gin.Context) {
		start := time.Now()
		keys := memory.Get().(map[any]any) //nolint:forcetypeassert // nothing else is put there
		c.Keys = keys                      // in which the line finds what others know
		defer func() {                     // after a panic, too
			logRequest(logger, c, time.Since(start))
			clear(keys)
			memory.Put(keys)
		}()
		c.Next()
	}
}

func logRequest(logger *slog.Logger, c *gin.Context, took time.Duration) {
	ctx := c.Request.Context()
	level, failure := outcomeOf(c)
	if !logger.Enabled(ctx, level) {
		return
	}
	attrs := append(make([]slog.Attr, 0, mostAttrs),
		slog.String("request_id", requestID(c)),
		slog.String("method", c.Request.Method),
		slog.String("path", c.Request.URL.Path),
		slog.String("remote", c.Request.RemoteAddr),
		slog.String("subject", c.GetString(subjectKey)),
		slog.Duration("duration", took),
		slog.Int("status", c.Writer.Status()))
	if failure != nil {
		attrs = append(attrs, slog.Int("error", int(failure.Code)), slog.String("message", failure.Message))
		if cause := failure.Unwrap(); cause != nil {
			attrs = append(attrs, slog.String("cause", cause.Error()))
		}
	}
	logger.LogAttrs(ctx, level, "request", attrs...)
}

// mostAttrs is how many attributes a line may have.
const mostAttrs = 10

// outcomeOf returns the level at which to say how a request ended, and how it
// failed, if it did.
func outcomeOf(c *gin.Context) (slog.Level, *models.Error) {
	failure, failed := c.Value(failureKey).(*models.Error)
	if !failed {
		return slog.LevelInfo, nil
	}
	switch {
	case failure.Code < models.CodeInternal:
		return slog.LevelInfo, failure
	case failure.Code == models.CodeInternal:
		return slog.LevelError, failure
	default: // for a while, and nobody's fault
		return slog.LevelWarn, failure
	}
}
