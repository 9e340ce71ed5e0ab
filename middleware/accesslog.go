package middleware

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// A line holds the state that the middleware of a request shares: the attributes for the access
// log, the fault on demand, and a buffer for the response. Lines are pooled.
type line struct {
	subject  string
	hasPlant bool // id and stored are set
	id       int64
	stored   time.Duration // time in the store
	unknown  bool          // whether the plant was stored
	failure  *models.Error

	fault   models.Fault // that the request demands
	made    bool         // its failure was caused; an earlier check may have failed first
	applied bool         // its failure is the response

	response []byte      // empty, with capacity for most responses
	keys     map[any]any // for gin.Context.Keys: lineKey only
}

const (
	// lineKey is the key of the line in a [gin.Context].
	lineKey = "plantstore.line"
	// usualResponse is the size in bytes that most responses don't exceed.
	usualResponse = 128
)

// lineOf returns the line of a request, or a new one if there is no access log.
func lineOf(c *gin.Context) *line {
	if l, ok := c.Value(lineKey).(*line); ok {
		return l
	}
	return new(line)
}

// NotePlant adds the id of the request's plant and the time in the store to the access log.
// unknown reports whether the outcome is unknown.
func NotePlant(c *gin.Context, id int64, stored time.Duration, unknown bool) {
	l := lineOf(c)
	l.hasPlant, l.id, l.stored, l.unknown = true, id, stored, unknown
}

// Observe records a response: the method of the request, the code of the Error (0 for
// a success), the time that the request took, and the fault on demand, if one was made.
type Observe func(method string, code models.Code, took time.Duration, made models.Fault)

// AccessLog logs each request with its outcome, and calls observe, unless it is nil. The
// line of an error includes the cause, which the response omits. Server errors have level
// error, lack of space or capacity level warn, all else level info. Queries are omitted and
// values that contain a token redacted, since clients put tokens anywhere (C4.25), except for
// the subject of a verified token.
func AccessLog(logger *slog.Logger, observe Observe) gin.HandlerFunc {
	lines := sync.Pool{New: func() any {
		l := &line{response: make([]byte, 0, usualResponse)}
		l.keys = map[any]any{lineKey: l}
		return l
	}}
	return func(c *gin.Context) {
		start := time.Now()
		l := lines.Get().(*line) //nolint:forcetypeassert // nothing else is put there
		c.Keys = l.keys
		returned := false
		defer func() {
			end := time.Now()
			l.log(logger, c, end, end.Sub(start))
			if returned && observe != nil { // after a panic there is no response to observe
				var code models.Code
				if l.failure != nil {
					code = l.failure.Code
				}
				observe(c.Request.Method, code, end.Sub(start), l.madeFault())
			}
			*l = line{keys: l.keys, response: l.response}
			lines.Put(l)
		}()
		c.Next()
		returned = true
	}
}

// log writes the line of a request. It calls the handler of the log itself: a [slog.Logger] would
// look up the line of its caller for each record, which costs more than the record.
func (l *line) log(logger *slog.Logger, c *gin.Context, end time.Time, took time.Duration) {
	ctx := c.Request.Context()
	level, outcome := l.outcome()
	if !logger.Enabled(ctx, level) {
		return
	}
	method, path := c.Request.Method, c.FullPath()
	if path == "" { // not a route: the path, and the method, may be any text
		method, path = models.WithoutToken(method), models.WithoutToken(c.Request.URL.Path)
	}
	attrs := append(make([]slog.Attr, 0, 17), // as many as there can be
		slog.String("request_id", RequestIDOf(c)),
		slog.String("method", method),
		slog.String("path", path),
		slog.String("remote", c.Request.RemoteAddr),
		slog.String("subject", shortened(l.subject)),
		slog.Duration("duration", took),
		slog.Int("status", c.Writer.Status()),
		slog.String("outcome", outcome))
	if l.hasPlant {
		attrs = append(attrs, slog.Int64("plant_id", l.id), slog.Duration("store_duration", l.stored))
	}
	if l.fault.Delay > 0 {
		attrs = append(attrs, slog.Duration("fault_delay", l.fault.Delay))
	}
	if trace := traceID(c.Request.Header["Traceparent"]); trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace))
	}
	if l.failure != nil {
		attrs = append(attrs, slog.Int("error", int(l.failure.Code)), slog.String("message", models.WithoutToken(l.failure.Message)))
		if cause := l.failure.Unwrap(); cause != nil {
			attrs = append(attrs, slog.String("cause", models.WithoutToken(cause.Error())))
		}
	}
	if logger.Enabled(ctx, slog.LevelDebug) {
		attrs = append(attrs,
			slog.Int64("body_bytes", c.Request.ContentLength), // -1: chunked
			slog.String("user_agent", models.WithoutToken(c.Request.UserAgent())))
	}
	record := slog.NewRecord(end, level, "request", 0)
	record.AddAttrs(attrs...)
	_ = logger.Handler().Handle(ctx, record) // best effort, as of a [slog.Logger]
}

// longestSubject bounds the bytes of the subject in a line.
const longestSubject = 255

// shortened returns the first bytes of a subject, which handlers of logs escape.
func shortened(subject string) string {
	if len(subject) <= longestSubject {
		return subject
	}
	return strings.ToValidUTF8(subject[:longestSubject], "") // without half a character
}

// outcome returns the outcome of a request as one word, and the level of its line.
func (l *line) outcome() (slog.Level, string) {
	switch {
	case l.applied:
		return slog.LevelInfo, "fault"
	case l.failure == nil:
		return slog.LevelInfo, "ok"
	case l.unknown:
		return slog.LevelError, "unknown"
	case !l.failure.Code.ServerFault():
		return slog.LevelInfo, "refused"
	case l.failure.Code == models.CodeInternal:
		return slog.LevelError, "failed"
	default: // temporary
		return slog.LevelWarn, "failed"
	}
}
