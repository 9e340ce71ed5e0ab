package middleware

import (
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// Observe records the response to a request: the code of the Error (0 for a success), and the time
// that the request took.
type Observe func(r *http.Request, code models.Code, took time.Duration)

// AccessLog logs each request with its outcome, and calls observe, unless it is nil. The
// line of an error includes the cause, which the response omits. Server errors have level
// error, lack of space or capacity level warn, all else level info. Queries are omitted and
// values that contain a token redacted, since clients put tokens anywhere (C4.25), except for
// the subject of a verified token.
func AccessLog(logger *slog.Logger, observe Observe) gin.HandlerFunc {
	requests := sync.Pool{New: newRequest}
	return func(c *gin.Context) {
		start := time.Now()
		r := requests.Get().(*Request) //nolint:forcetypeassert // nothing else is put there
		c.Keys = r.keys
		returned := false
		defer func() {
			end := time.Now()
			r.log(logger, c, end, end.Sub(start))
			if returned && observe != nil { // after a panic there is no response to observe
				observe(c.Request, r.code(), end.Sub(start))
			}
			*r = Request{keys: r.keys, response: r.response}
			requests.Put(r)
		}()
		c.Next()
		returned = true
	}
}

// log writes the line of a request. It calls the handler of the log itself: a [slog.Logger] would
// look up the line of its caller for each record, which costs more than the record.
func (r *Request) log(logger *slog.Logger, c *gin.Context, end time.Time, took time.Duration) {
	ctx := c.Request.Context()
	level, outcome := r.outcome()
	if !logger.Enabled(ctx, level) {
		return
	}
	method, path := c.Request.Method, c.FullPath()
	if path == "" { // not a route: the path, and the method, may be any text
		method, path = models.ClientText(method), models.ClientText(c.Request.URL.Path)
	}
	attrs := append(make([]slog.Attr, 0, 17), // as many as there can be
		slog.String("method", method),
		slog.String("path", path),
		slog.Int("status", c.Writer.Status()),
		slog.String("outcome", outcome))
	if r.failure != nil {
		attrs = append(attrs, slog.Int("error", int(r.failure.Code)), slog.String("message", models.WithoutToken(r.failure.Message)))
		if cause := r.failure.Unwrap(); cause != nil {
			text := models.ClientText
			if r.failure.Code.ServerFault() { // perhaps with a stack
				text = models.WithoutToken
			}
			attrs = append(attrs, slog.String("cause", text(cause.Error())))
		}
	}
	if r.noted {
		attrs = append(attrs, slog.Int64("plant_id", r.id), milliseconds("store_duration_ms", r.stored))
	}
	attrs = append(attrs,
		slog.String("subject", r.subject),
		milliseconds("duration_ms", took),
		slog.String("remote", c.Request.RemoteAddr))
	if logger.Enabled(ctx, slog.LevelDebug) {
		attrs = append(attrs,
			slog.Int64("body_bytes", c.Request.ContentLength), // -1: chunked
			slog.String("user_agent", models.ClientText(c.Request.UserAgent())))
		if prefer := c.Request.Header["Prefer"]; prefer != nil && c.Writer.Header().Get("Preference-Applied") == "" {
			attrs = append(attrs, slog.String("prefer_ignored", models.ClientText(strings.Join(prefer, ", "))))
		}
	}
	if trace := traceID(c.Request.Header["Traceparent"]); trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace))
	}
	attrs = append(attrs, slog.String("request_id", c.Writer.Header().Get(requestIDHeader)))
	record := slog.NewRecord(end, level, "request", 0)
	record.AddAttrs(attrs...)
	_ = logger.Handler().Handle(ctx, record) // best effort, as of a [slog.Logger]
}

// milliseconds returns an attribute of a duration.
func milliseconds(key string, d time.Duration) slog.Attr {
	return slog.Float64(key, float64(d.Microseconds())/1000)
}

// outcome returns the outcome of a request as one word, as in the metrics, and the level of its line.
func (r *Request) outcome() (slog.Level, string) {
	switch {
	case r.failure == nil && r.noted:
		return slog.LevelInfo, "created"
	case r.failure == nil:
		return slog.LevelInfo, "read"
	case r.unknown:
		return slog.LevelError, "unknown"
	case !r.failure.Code.ServerFault():
		return slog.LevelInfo, "refused"
	case r.failure.Code == models.CodeInternal:
		return slog.LevelError, "failed"
	default: // temporary
		return slog.LevelWarn, "failed"
	}
}
