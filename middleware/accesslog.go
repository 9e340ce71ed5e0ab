package middleware

import (
	"context"
	"log/slog"
	"time"

	"plantstore/models"
)

// AccessLog returns an [Observe] that logs each request. The line of an error includes the cause, which
// the response omits. Queries are omitted and tokens redacted, since clients put them anywhere
// (C4.25), except for the subject of a verified token.
func AccessLog(logger *slog.Logger) Observe {
	return func(ctx context.Context, o *Outcome) {
		if logger.Enabled(ctx, o.Level) {
			o.log(ctx, logger)
		}
	}
}

// log writes the line of a request. It calls the handler of the log itself: a [slog.Logger] would
// look up the line of its caller for each record, which costs more than the record.
func (o *Outcome) log(ctx context.Context, logger *slog.Logger) {
	message, attrs := "refused", make([]slog.Attr, 0, 18) // as many as there can be
	if o.Request != nil {
		message = "request"
		attrs = append(attrs, slog.String("method", o.Method), slog.String("path", o.Path), slog.Int("status", o.Status))
	}
	attrs = append(attrs, slog.String("outcome", o.Name))
	if o.Error != nil {
		attrs = append(attrs, slog.Int("error", int(o.Error.Code)), slog.String("message", o.Message()))
		if cause := o.Cause(); cause != "" {
			attrs = append(attrs, slog.String("cause", cause))
		}
	}
	if o.Plant {
		attrs = append(attrs, slog.Int64("plant_id", o.PlantID), milliseconds("store_duration_ms", o.Stored))
	}
	if o.Request != nil {
		attrs = append(attrs, slog.String("subject", o.Subject), milliseconds("duration_ms", o.Took))
	}
	attrs = append(attrs, slog.String("remote", o.Remote))
	if o.Request != nil && logger.Enabled(ctx, slog.LevelDebug) {
		attrs = append(attrs,
			slog.Int64("body_bytes", o.Request.ContentLength), // -1: chunked
			slog.String("user_agent", models.ClientText(o.Request.UserAgent())))
		if o.Prefer != "" {
			attrs = append(attrs, slog.String("prefer_ignored", o.Prefer))
		}
	}
	if o.TraceID != "" {
		attrs = append(attrs, slog.String("trace_id", o.TraceID))
	}
	attrs = append(attrs, slog.String("request_id", o.RequestID))
	if o.Delayed > 0 {
		attrs = append(attrs, milliseconds("fault_delay_ms", o.Delayed))
	}
	record := slog.NewRecord(o.Began.Add(o.Took), o.Level, message, 0)
	record.AddAttrs(attrs...)
	_ = logger.Handler().Handle(ctx, record) // best effort, as of a [slog.Logger]
}

// milliseconds returns an attribute of a duration.
func milliseconds(key string, d time.Duration) slog.Attr {
	return slog.Float64(key, float64(d.Microseconds())/1000)
}
