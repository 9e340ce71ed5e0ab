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
	problem := a.problem()
	a.logChange(r.Context(), problem)
	if problem == "" {
		write(w, http.StatusOK, "application/json", []byte(`{"status":"ready"}`+"\n"))
		return
	}
	fail(w, models.NewError(models.CodeUnavailable, "not ready: "+problem))
}

// problem returns why the server should not get requests, "" if it should.
func (a *admin) problem() string {
	switch {
	case stopped(a.Store):
		return "the store has stopped itself after a fault, and the server ends: see the log"
	case a.Leaving.Err() != nil:
		return "the server is shutting down"
	case a.Store.Ready() != nil:
		return "the store is not available: see the log"
	}
	return ""
}

// logChange logs a problem, unless the last response was about the same.
func (a *admin) logChange(ctx context.Context, problem string) {
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
		if err := a.Store.Ready(); err != nil {
			attrs = append(attrs, slog.String("cause", err.Error()))
		}
		a.Logger.LogAttrs(ctx, slog.LevelWarn, "not ready", attrs...)
	}
}

func stopped(store Store) bool {
	select {
	case <-store.Stopped():
		return true
	default:
		return false
	}
}
