package admin

import (
	"context"
	"log/slog"
	"net/http"

	"plantstore/models"
)

// readiness reports whether the server should get requests, and why not. It logs changes since
// the last request, with the cause.
func (a *admin) readiness(w http.ResponseWriter, r *http.Request) {
	problem, cause := a.Problem()
	a.logChange(r.Context(), problem, cause)
	if problem == "" {
		write(w, http.StatusOK, "application/json", []byte(`{"status":"ready"}`+"\n"))
		return
	}
	fail(w, models.NewError(models.CodeUnavailable, "not ready: "+problem))
}

// logChange logs a problem, unless the last response was about the same.
func (a *admin) logChange(ctx context.Context, problem string, cause error) {
	a.mu.Lock()
	before := a.last
	a.last = problem
	a.mu.Unlock()
	switch {
	case problem == before:
	case problem == "":
		a.Logger.InfoContext(ctx, "ready again")
	default:
		attrs := []slog.Attr{slog.String("why", problem)}
		if cause != nil {
			attrs = append(attrs, slog.String("cause", cause.Error()))
		}
		a.Logger.LogAttrs(ctx, slog.LevelWarn, "not ready", attrs...)
	}
}
