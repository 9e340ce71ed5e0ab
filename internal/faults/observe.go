package faults

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"plantstore/models"
)

// outcome is the outcome of a fault in the log.
const outcome = "fault"

// appliedField is the header field with the preferences that were honored (RFC 7240).
const appliedField = "Preference-Applied"

func (d *demand) preferences() string {
	var applied []byte
	if d.Delay > 0 {
		applied = fmt.Append(applied, "delay=", d.Delay)
	}
	if d.applied {
		if applied != nil {
			applied = append(applied, ", "...)
		}
		applied = fmt.Append(applied, "code=", d.Code)
	}
	return string(applied)
}

// A response sets appliedField in a response, whose body [http.ResponseWriter.Write] gets as a whole.
type response struct {
	http.ResponseWriter

	demand *demand
	status int // not yet written
}

func (r *response) WriteHeader(status int) { r.status = status }

func (r *response) Write(p []byte) (int, error) {
	if d := r.demand; r.status != 0 {
		d.applied = d.caused && bytes.HasPrefix(p, fmt.Appendf(nil, `{"error":%v,`, d.Code))
		if applied := d.preferences(); applied != "" {
			r.Header().Set(appliedField, applied)
		}
		r.ResponseWriter.WriteHeader(r.status)
		r.status = 0
	}
	return r.ResponseWriter.Write(p)
}

// NewObserve returns a function that calls count for a response with a fault, and next for others.
func NewObserve(next func(*http.Request, models.Code, time.Duration), count Count) func(*http.Request, models.Code, time.Duration) {
	return func(r *http.Request, code models.Code, took time.Duration) {
		switch d := demandOf(r.Context()); {
		case d != nil && d.applied:
			count(d.Code, d.Delay > 0)
		case d != nil && d.Delay > 0:
			count(0, true)
		default:
			next(r, code, took)
		}
	}
}

// NewLogger returns a logger for the lines of requests. A fault has its own outcome in them, at level
// info, since nothing has failed.
func NewLogger(next *slog.Logger) *slog.Logger { return slog.New(logHandler{next.Handler()}) }

type logHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h logHandler) Handle(ctx context.Context, record slog.Record) error {
	d := demandOf(ctx)
	if d == nil {
		return h.Handler.Handle(ctx, record)
	}
	if d.applied {
		record.Level = slog.LevelInfo
	}
	if !h.Enabled(ctx, record.Level) {
		return nil
	}
	changed := slog.NewRecord(record.Time, record.Level, record.Message, record.PC)
	record.Attrs(func(attr slog.Attr) bool {
		changed.AddAttrs(d.logged(attr))
		return true
	})
	if d.Delay > 0 {
		changed.AddAttrs(slog.Float64("fault_delay_ms", milliseconds(d.Delay)))
	}
	return h.Handler.Handle(ctx, changed)
}

// WithAttrs implements [slog.Handler].
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return logHandler{h.Handler.WithAttrs(attrs)}
}

// WithGroup implements [slog.Handler].
func (h logHandler) WithGroup(name string) slog.Handler { return logHandler{h.Handler.WithGroup(name)} }

// logged returns an attribute of the request as the client sent it.
func (d *demand) logged(attr slog.Attr) slog.Attr {
	switch attr.Key {
	case "method":
		return slog.String(attr.Key, http.MethodPost)
	case "path":
		return slog.String(attr.Key, plantsPath)
	case "duration_ms":
		return slog.Float64(attr.Key, milliseconds(d.Delay)+attr.Value.Float64())
	case "outcome":
		if d.applied {
			return slog.String(attr.Key, outcome)
		}
	}
	return attr
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
