package middleware

import (
	"log/slog"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// A line is what others tell the access log of a request, and memory for the answer
// and for the line itself. One request has it after the other.
type line struct {
	subject string
	plant   bool  // id and stored are known
	id      int64 // of the plant
	stored  time.Duration
	failure *models.Error

	answer []byte // empty, with room for most answers
	attrs  [mostAttrs]slog.Attr
	keys   map[any]any // of the context: holds nothing but the line itself
}

const (
	// lineKey is where a context has its line.
	lineKey = "plantstore.line"
	// usualAnswer is the size in bytes that most answers do not exceed.
	usualAnswer = 128
	// mostAttrs is how many attributes a line may have.
	mostAttrs = 16
)

func newLine() *line {
	l := &line{answer: make([]byte, 0, usualAnswer)}
	l.keys = map[any]any{lineKey: l}
	return l
}

// lineOf returns the line of a request, or one that nobody reads.
func lineOf(c *gin.Context) *line {
	if l, ok := c.Value(lineKey).(*line); ok {
		return l
	}
	return new(line)
}

// Subject returns the subject of the token that Bearer let pass, or "".
func Subject(c *gin.Context) string { return lineOf(c).subject }

// NotePlant tells the access log the id of the plant that a request is about, and
// how long the store had to do with it.
func NotePlant(c *gin.Context, id int64, stored time.Duration) {
	l := lineOf(c)
	l.plant, l.id, l.stored = true, id, stored
}

// AccessLog writes one line a request: what was asked and how it ended, with the
// cause that the client is not told. A fault of the server is at level error, a
// refusal for want of space or time at level warn, all else at level info. The
// query is left out, and all else of the request that holds a token: clients put
// them anywhere (C4.25).
func AccessLog(logger *slog.Logger) gin.HandlerFunc {
	lines := sync.Pool{New: func() any { return newLine() }}
	return func(c *gin.Context) {
		start := time.Now()
		l := lines.Get().(*line) //nolint:forcetypeassert // nothing else is put there
		c.Keys = l.keys
		defer func() { // after a panic, too
			l.log(logger, c, start)
			*l = line{keys: l.keys, answer: l.answer}
			lines.Put(l)
		}()
		c.Next()
	}
}

// log writes the line of a request that came at start.
func (l *line) log(logger *slog.Logger, c *gin.Context, start time.Time) {
	ctx := c.Request.Context()
	level, outcome := l.outcome()
	if !logger.Enabled(ctx, level) {
		return
	}
	now := time.Now()
	attrs := append(l.attrs[:0],
		slog.String("request_id", AnswerID(c)),
		slog.String("method", withoutToken(c.Request.Method)),
		slog.String("path", withoutToken(c.Request.URL.Path)),
		slog.String("remote", c.Request.RemoteAddr),
		slog.String("subject", l.subject),
		slog.Duration("duration", now.Sub(start)),
		slog.Int("status", c.Writer.Status()),
		slog.String("outcome", outcome))
	if l.plant {
		attrs = append(attrs, slog.Int64("plant_id", l.id), slog.Duration("store_duration", l.stored))
	}
	if trace := traceID(c.Request.Header["Traceparent"]); trace != "" {
		attrs = append(attrs, slog.String("trace_id", trace))
	}
	if l.failure != nil {
		attrs = append(attrs, slog.Int("error", int(l.failure.Code)), slog.String("message", withoutToken(l.failure.Message)))
		if cause := l.failure.Unwrap(); cause != nil {
			attrs = append(attrs, slog.String("cause", withoutToken(cause.Error())))
		}
	}
	if logger.Enabled(ctx, slog.LevelDebug) {
		attrs = append(attrs,
			slog.Int64("body_bytes", c.Request.ContentLength), // -1: in chunks
			slog.String("user_agent", withoutToken(c.Request.UserAgent())))
	}
	// Logger.LogAttrs would find out the place in the source, which no line has. A
	// record has room of its own for a few; a group without a name counts as one.
	record := slog.NewRecord(now, level, "request", 0)
	record.AddAttrs(slog.Attr{Value: slog.GroupValue(attrs...)})
	_ = logger.Handler().Handle(ctx, record) // as Logger does
}

// outcome returns the level at which to say how a request ended, and how that is
// in one word.
func (l *line) outcome() (slog.Level, string) {
	switch {
	case l.failure == nil:
		return slog.LevelInfo, "ok"
	case !l.failure.Code.ServerFault():
		return slog.LevelInfo, "refused"
	case l.failure.Code == models.CodeInternal:
		return slog.LevelError, "failed"
	default: // for a while, and nobody's fault
		return slog.LevelWarn, "unavailable"
	}
}

// redacted stands for what is not logged.
const redacted = "REDACTED"

// withoutToken returns text, or what stands for it if a piece of a token may be in it.
func withoutToken(text string) string {
	if models.HoldsTokenPart(text) {
		return redacted
	}
	return text
}
