package faults

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"plantstore/middleware"
	"plantstore/models"
)

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

// observe returns next, which gets the request as the client has sent it, and Fault as the outcome of
// a failure on demand. Next may be nil.
func observe(next middleware.Observe) middleware.Observe {
	if next == nil {
		next = func(context.Context, *middleware.Outcome) {}
	}
	return func(ctx context.Context, o *middleware.Outcome) {
		if d := demandOf(ctx); d != nil {
			o.Method, o.Path = http.MethodPost, models.PlantsPath
			d.amend(o)
		}
		next(ctx, o)
	}
}

// amend sets what is different in the outcome of a request with a fault. Nothing has failed, if that
// was demanded.
func (d *demand) amend(o *middleware.Outcome) {
	if d.applied {
		o.Name, o.Level = middleware.Fault, slog.LevelInfo
	}
	o.Began, o.Took, o.Delayed = o.Began.Add(-d.Delay), o.Took+d.Delay, d.Delay
}
