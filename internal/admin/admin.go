// Package admin provides the health probes, metrics and profiles of a running server, on a
// separate listener. Its failures are Errors, like those of the service (C1.3), except those of
// net/http before any handler runs, and of package net/http/pprof.
package admin

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/loopback"
	"plantstore/internal/requests"
	"plantstore/internal/server"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/storage"
)

// Options are the sources of the metrics and probes. All are required.
type Options struct {
	Version  string
	Observer *Observer
	Store    func() storage.Stats
	Server   func() server.Stats
	Tokens   func() auth.Stats
	// Problem returns why the server should not get requests, "" if it should, and the cause for
	// the log.
	Problem func() (problem string, cause error)
	// CertificateExpires returns the earliest expiry of the certificates in use for TLS, zero if
	// there are none.
	CertificateExpires func() time.Time
	// Emptied reports that the store had no plants at startup, although its secret is older.
	Emptied bool
	// Requests keeps the requests of clients; nil: the server is not ephemeral.
	Requests *requests.Recorder
	// Reset replaces all plants by the seed, and returns their number. It logs failures.
	Reset  func(ctx context.Context) (plants int64, err error)
	Logger *slog.Logger
	// Pprof enables the profiles of the Go runtime at /debug/pprof/.
	Pprof bool
}

// The paths with methods of their own.
const pathReset, pathRequests = "/reset", "/requests"

type admin struct {
	Options

	paths map[string]http.HandlerFunc

	mu   sync.Mutex
	last string // the problem in the last response of /readyz
}

// New returns the handler of the admin listener.
func New(options Options) http.Handler {
	a := &admin{Options: options}
	a.paths = map[string]http.HandlerFunc{"/livez": a.live, "/readyz": a.readiness, "/metrics": a.metrics, pathReset: a.reset, pathRequests: a.requests}
	if options.Pprof {
		addProfiles(a.paths)
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
			"there is nothing at this path; there are /livez, /readyz, /metrics, /requests, POST /reset and, with PPROF=on, /debug/pprof/"))
	case !slices.Contains(methods(r.URL.Path), r.Method):
		header.Set("Allow", strings.Join(methods(r.URL.Path), ", "))
		fail(w, models.NewError(models.CodeMethodNotAllowed, "this path does not support this method; see the header field Allow"))
	default:
		handler(w, r)
	}
}

func methods(path string) []string {
	switch path {
	case pathReset:
		return []string{http.MethodPost}
	case pathRequests:
		return []string{http.MethodGet, http.MethodDelete}
	}
	return []string{http.MethodGet, http.MethodHead}
}

// live responds as long as the process runs.
func (*admin) live(w http.ResponseWriter, _ *http.Request) {
	write(w, http.StatusOK, "application/json", []byte(`{"status":"alive"}`+"\n"))
}

func (a *admin) reset(w http.ResponseWriter, r *http.Request) {
	plants, err := a.Reset(r.Context())
	if err != nil {
		fail(w, resetError(err))
		return
	}
	write(w, http.StatusOK, "application/json", fmt.Appendf(nil, `{"status":"reset","plants":%d}`+"\n", plants))
}

// requests responds with the kept requests as JSON Lines.
func (a *admin) requests(w http.ResponseWriter, r *http.Request) {
	if r.Body == http.NoBody {
		_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it would end the wait
	}
	all, failure := a.Requests.Query(r)
	if failure != nil {
		fail(w, failure)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	encoder := jsontext.NewEncoder(w)
	for _, request := range all {
		_ = json.MarshalEncode(encoder, request) // best effort
	}
}

// resetError returns the Error for an error of a reset, whose cause [Options.Reset] has logged.
func resetError(err error) *models.Error {
	var failure *models.Error
	switch {
	case errors.As(err, &failure):
		return failure
	case errors.Is(err, storage.ErrUnavailable):
		return models.NewError(models.CodeUnavailable, "the reset failed: the store is not available; see the log")
	default:
		return models.NewError(models.CodeInternal, "the reset failed: see the log")
	}
}

// fail responds with an Error and closes the connection: no refused client holds one.
func fail(w http.ResponseWriter, failure *models.Error) {
	w.Header().Set("Connection", "close")
	write(w, http.StatusBadRequest, "application/json", failure.Body())
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	w.Header().Set("Content-Type", contentType)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) //nolint:gosec,nolintlint // it is not HTML, which G705 finds at times; best effort
}

// guard returns an Error for a request that a page in a browser on this machine could cause:
// pages must neither read from the listener nor make it act. It returns nil for all others.
func guard(r *http.Request) *models.Error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return models.NewError(models.CodeForbidden, "requests of pages of other origins are refused: open the address itself")
	}
	for _, origin := range r.Header.Values("Origin") {
		if u, err := url.Parse(origin); err != nil || u.Host == "" || u.Host != r.Host {
			return models.NewError(models.CodeForbidden, "requests of pages of other origins are refused: send no Origin")
		}
	}
	if overLoopback(r) && r.Host != "" && !loopback.Is(r.Host) { // HTTP/1.0 has no Host, and no browser speaks it
		return models.NewError(models.CodeForbidden, "over a loopback address, Host must be localhost or a loopback address, with any port")
	}
	return nil
}

// overLoopback reports whether a request was received on a loopback address. The name of
// another site may resolve to it (DNS rebinding).
func overLoopback(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.IP.IsLoopback()
}
