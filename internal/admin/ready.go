package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"plantstore/models"
	"plantstore/storage"
)

// leastFree is the minimum number of free bytes of the file system: the database grows by up to
// 16 MiB at a time.
const leastFree = 64 << 20

// readiness reports whether the server should get requests, and why not: it is shutting down, or
// plants cannot be created, or soon cannot be created. It logs changes since the last request,
// with causes.
func (a *admin) readiness(w http.ResponseWriter, r *http.Request) {
	problems, detail := a.problems()
	kinds := strings.Join(problems, "; ")
	text := kinds + detail
	a.logChange(r.Context(), kinds, text)
	if text == "" {
		write(w, http.StatusOK, "application/json", []byte(`{"status":"ready"}`+"\n"))
		return
	}
	fail(w, models.NewError(models.CodeUnavailable, "not ready: "+text))
}

// logChange logs the problems, if any, unless the last response was about problems of the
// same kinds.
func (a *admin) logChange(ctx context.Context, kinds, text string) {
	a.mu.Lock()
	before := a.last
	a.last = kinds
	a.mu.Unlock()
	switch {
	case kinds == before:
	case kinds == "":
		a.Logger.InfoContext(ctx, "ready again")
	default:
		attrs := []slog.Attr{slog.String("why", text)}
		if err := a.Store.Ready(); err != nil {
			attrs = append(attrs, slog.String("cause", err.Error()))
		}
		a.Logger.LogAttrs(ctx, slog.LevelWarn, "not ready", attrs...)
	}
}

// problems returns the reasons why the server should not get requests, and a detail of the last
// one, which changes while the problem stays the same.
func (a *admin) problems() (problems []string, detail string) {
	if a.Leaving.Err() != nil {
		problems = append(problems, "the server is shutting down")
	}
	switch err := a.Store.Ready(); {
	case stopped(a.Store):
		problems = append(problems, "the store has stopped itself after a fault, and the server ends: see the log")
	case errors.Is(err, storage.ErrCommitHangs):
		problems = append(problems, "a commit does not end: the disk of the plants, or the database, hangs")
	case errors.Is(err, storage.ErrFailing):
		problems = append(problems, "the last commit has failed: see the log")
	case err != nil:
		problems = append(problems, "the store is not available: see the log")
	}
	file := a.Store.Stats().File
	if file != nil && file.ReadOnly {
		problems = append(problems, "the file system of the plants is mounted read-only")
	}
	if file != nil && file.Free >= 0 && file.Free < leastFree {
		problems = append(problems, "the file system of the plants is nearly full: free some space")
		detail = fmt.Sprintf(", it has %d bytes left and should have %d", file.Free, int64(leastFree))
	}
	return problems, detail
}

func stopped(store Store) bool {
	select {
	case <-store.Stopped():
		return true
	default:
		return false
	}
}
