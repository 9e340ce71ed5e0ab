// Package admin provides the health probes, metrics and profiles of a running server, on a
// separate listener. Its failures are Errors, like those of the service (C1.3).
package admin

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"plantstore/internal/auth"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/storage"
)

// A Store is the part of a [storage.Store] that is monitored.
type Store interface {
	Ready() error
	Stopped() <-chan struct{}
	Stats() storage.Stats
}

// Options are the sources of the metrics and probes. All are required.
type Options struct {
	Version  string
	Store    Store
	Observer *Observer
	Server   func() server.Stats
	Tokens   func() auth.Stats
	// RateLimited returns the number of requests of addresses and of subjects that exceeded
	// RATE_LIMIT.
	RateLimited func() (address, subject uint64)
	// LostLines returns the number of lost lines of the log.
	LostLines func() uint64
	// CertificateExpires returns the earliest expiry of the certificates in use for TLS, zero if
	// there are none.
	CertificateExpires func() time.Time
	// Reset replaces all plants by the seed, and returns the number of plants, or
	// [storage.ErrNotEphemeral].
	Reset func(ctx context.Context) (plants int64, err error)
	// Draining is done when the shutdown begins.
	Draining context.Context //nolint:containedctx // a state, not that of a call
	Logger   *slog.Logger
	// Pprof enables the profiles of the Go runtime at /debug/pprof/.
	Pprof bool
	// LongestProfile is the maximum duration of a profile. The write time-out of the listener
	// must be longer.
	LongestProfile time.Duration
}

type admin struct {
	Options

	paths map[string]http.HandlerFunc

	mu   sync.Mutex
	last string // the kinds of problems in the last response of /readyz
}

// New returns the handler of the admin listener.
func New(options Options) http.Handler {
	a := &admin{Options: options}
	a.paths = map[string]http.HandlerFunc{"/livez": a.live, "/readyz": a.readiness, "/metrics": a.metrics, pathReset: a.reset}
	if options.Pprof {
		addProfiles(a.paths, options.LongestProfile)
	}
	return a
}

func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header["X-Request-Id"] = models.RequestID(r.Header["X-Request-Id"])
	handler, known := a.paths[r.URL.Path]
	refused := guard(r)
	switch {
	case refused != nil:
		fail(w, refused)
	case !known:
		fail(w, models.NewError(models.CodeNotFound,
			"there is nothing at this path; there are /livez, /readyz, /metrics, POST /reset and, with PPROF=on or public, /debug/pprof/"))
	case !slices.Contains(methods(r.URL.Path), r.Method):
		header.Set("Allow", strings.Join(methods(r.URL.Path), ", "))
		fail(w, models.NewError(models.CodeMethodNotAllowed, "this path does not take this method; see the header Allow"))
	default:
		handler(w, r)
	}
}

func methods(path string) []string {
	if path == pathReset {
		return []string{http.MethodPost}
	}
	return []string{http.MethodGet, http.MethodHead}
}

// live responds as long as the process runs.
func (*admin) live(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, "application/json", []byte(`{"status":"alive"}`+"\n"))
}

// readiness reports whether plants can be created, and why not. It logs changes since the
// last request, with causes.
func (a *admin) readiness(w http.ResponseWriter, r *http.Request) {
	var kinds, texts []string
	for _, p := range a.problems() {
		kinds, texts = append(kinds, p.what), append(texts, p.what+p.detail)
	}
	text := strings.Join(texts, "; ")
	a.logChange(r.Context(), strings.Join(kinds, "; "), text)
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
