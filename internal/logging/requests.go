package logging

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"plantstore/middleware"
)

// Requests returns a [middleware.Observe] that writes a line for a person at a terminal for each request
// from level up, such as:
//
//	03:21:59 422 POST /plants  name: is required  (alice, 0.6 ms)
//
// Those of the server's own failures end with the X-Request-Id, by which a client reports them.
func Requests(to *Buffer, level slog.Leveler, color bool) middleware.Observe {
	return func(_ context.Context, o *middleware.Outcome) {
		if o.Level < level.Level() {
			return
		}
		_, _ = to.Write([]byte(requestLine(o, color))) // a Buffer does not fail
		if o.Level >= slog.LevelError {
			to.Flush()
		}
	}
}

func requestLine(o *middleware.Outcome, colored bool) string {
	code, request := fmt.Sprint(o.Status), "(header refused)"
	if o.Error != nil {
		code = o.Error.Code.String()
	}
	if color := colorOf(o.Name); colored && color != "" {
		code = color + code + "\x1b[0m"
	}
	if o.Request != nil {
		request = o.Method + " " + o.Path
	}
	switch cause := o.Cause(); {
	case cause != "" && o.Level > slog.LevelInfo:
		request += "  " + o.Message() + ": " + cause
	case o.Error != nil:
		request += "  " + o.Message()
	case o.Plant:
		request += fmt.Sprint("  id ", o.PlantID)
	}
	details := fmt.Sprintf("%.1f ms", float64(o.Took.Microseconds())/1000)
	if o.Name == middleware.Fault {
		details = "on demand, " + details
	}
	if o.Subject != "" {
		details = o.Subject + ", " + details
	}
	if o.Level > slog.LevelInfo { // the client may report it
		details += ", " + o.RequestID
	}
	return fmt.Sprintf("%s %s %s\n", o.Began.Add(o.Took).Format(time.TimeOnly), code, Line(request+"  ("+details+")"))
}

// colorOf returns the escape sequence of an outcome: green if a plant is stored, red for faults of the
// server, yellow for those of the client.
func colorOf(outcome string) string {
	switch outcome {
	case middleware.Created:
		return "\x1b[92m"
	case middleware.Failed, middleware.Unknown:
		return "\x1b[91m"
	case middleware.Read:
		return ""
	default:
		return "\x1b[93m"
	}
}
