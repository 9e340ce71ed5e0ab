// Package admin is what the operator's machines ask a running server: whether it
// lives, whether it takes plants, and what it has counted. It has a listener of its
// own, and answers failures as the service does (C1.3).
package admin

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"plantstore/internal/auth"
	"plantstore/internal/meter"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/storage"
)

// A Store is what a [storage.Store] has for its operators.
type Store interface {
	Ready() error
	Stopped() <-chan struct{}
	Stats() storage.Stats
}

// Options are what the admin listener tells of, all of it needed.
type Options struct {
	Version  string
	Store    Store
	Requests *meter.Requests
	Server   func() server.Stats
	Tokens   func() auth.Stats
	// LostLines returns how many lines of the log found no reader.
	LostLines func() uint64
	// CertificateExpires returns when the first of the certificates in use for TLS
	// expires, the zero time if there is none.
	CertificateExpires func() time.Time
	// Stopping is done when the server stops.
	Stopping context.Context //nolint:containedctx // a state that is asked for, not that of a call
	Logger   *slog.Logger
	// Pprof is whether there are the profiles of the Go runtime at /debug/pprof/.
	Pprof bool
	// LongestProfile is how long a profile may be taken. The listener must let a
	// response take longer.
	LongestProfile time.Duration
}

// admin is the handler.
type admin struct {
	Options

	paths map[string]http.HandlerFunc

	mu   sync.Mutex
	last string // the problems that /readyz has told last
}

// New returns the handler of the admin listener.
func New(options Options) http.Handler {
	a := &admin{Options: options}
	a.paths = map[string]http.HandlerFunc{"/livez": a.live, "/readyz": a.readiness, "/metrics": a.metrics}
	if options.Pprof {
		addProfiles(a.paths, options.LongestProfile)
	}
	return a
}

// ServeHTTP implements [http.Handler].
func (a *admin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header.Set("X-Request-Id", requestID(r))
	handler, known := a.paths[r.URL.Path]
	refused := guard(r)
	switch {
	case refused != nil:
		fail(w, refused)
	case !known:
		fail(w, models.NewError(models.CodeNotFound,
			"there is nothing at this path; there are /livez, /readyz, /metrics and, with PPROF=on or public, /debug/pprof/"))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		header.Set("Allow", "GET, HEAD")
		fail(w, models.NewError(models.CodeMethodNotAllowed, "this path does not take this method; see the header Allow"))
	default:
		handler(w, r)
	}
}

// live answers that the process does.
func (*admin) live(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, "application/json", []byte(`{"status":"alive"}`))
}

// readiness answers whether plants can be created, and why not. When that has
// changed since it was last asked for, the log says so, with causes.
func (a *admin) readiness(w http.ResponseWriter, r *http.Request) {
	problems := a.problems()
	var kinds, texts []string
	for _, p := range problems {
		kinds, texts = append(kinds, p.what), append(texts, p.what+p.detail)
	}
	text := strings.Join(texts, "; ")
	if a.isNews(strings.Join(kinds, "; ")) {
		a.note(r.Context(), text)
	}
	if text == "" {
		write(w, http.StatusOK, "application/json", []byte(`{"status":"ready"}`))
		return
	}
	fail(w, models.NewError(models.CodeUnavailable, "not ready: "+text))
}

// isNews reports whether these are other problems than those told last.
func (a *admin) isNews(kinds string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if kinds == a.last {
		return false
	}
	a.last = kinds
	return true
}

// note logs what /readyz says.
func (a *admin) note(ctx context.Context, text string) {
	if text == "" {
		a.Logger.InfoContext(ctx, "ready again")
		return
	}
	attrs := []slog.Attr{slog.String("why", text)}
	if err := a.Store.Ready(); err != nil {
		attrs = append(attrs, slog.String("cause", err.Error()))
	}
	a.Logger.LogAttrs(ctx, slog.LevelWarn, "not ready", attrs...)
}

// requestID returns the client's own if it is sane, else a new one (C1.6).
func requestID(r *http.Request) string {
	if ids := r.Header["X-Request-Id"]; len(ids) == 1 && models.SaneRequestID(ids[0]) {
		return ids[0]
	}
	return rand.Text()
}

// fail answers with status 400 and an Error.
func fail(w http.ResponseWriter, failure *models.Error) {
	encoded, _ := json.Marshal(failure) // a number and a string of ours always encode
	write(w, http.StatusBadRequest, "application/json", encoded)
}

// write answers with a body that is whole.
func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client is gone; nobody is left to tell
}
