// Package operate is the interface for operators: one table of paths, which three listeners mount. A
// listener serves only the paths that the table allows it:
//
//	Admin     ADMIN_ADDR, for tools: probes, metrics, reset and requests
//	Socket    a Unix socket next to the database, for commands; only the user of the server can open it
//	Page      the page of plantstore plants browse: paths that read, behind a key
//
// Responses are JSON; several values are JSON Lines. A failure is an Error with status 400, as in the API
// (C1.3), or, after other values, the last line. A response that was cut off lacks the last chunk of its
// chunked encoding, so that a [Client] detects it.
package operate

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"

	"plantstore/internal/requests"
	"plantstore/models"
	"plantstore/storage"
)

// A Listener mounts the endpoints that the table allows it.
type Listener int

// The listeners.
const (
	Admin Listener = 1 << iota
	Socket
	Page
)

// An endpoint is a row of the table: what a method does at a path. HEAD is GET without a body.
type endpoint struct {
	method, path string
	listeners    Listener // that mount it
	serve        func(*Operator, *response, *http.Request) error
}

// pageRequests is the path of the requests with lines for people.
const pageRequests = "/page/requests"

// endpoints returns the table.
func endpoints() []endpoint {
	return []endpoint{
		{"GET", "/livez", Admin, (*Operator).live},
		{"GET", "/readyz", Admin | Socket, (*Operator).ready},
		{"GET", "/metrics", Admin, (*Operator).metrics},
		{"POST", "/reset", Admin | Socket, (*Operator).reset},
		{"GET", "/requests", Admin | Socket, (*Operator).requests},
		{"DELETE", "/requests", Admin, (*Operator).requests},
		{"GET", "/info", Socket, (*Operator).info},
		{"GET", "/plant", Socket, (*Operator).get},      // ?id=7
		{"GET", "/plants", Socket, (*Operator).list},    // ?from=7
		{"POST", "/plants", Socket, (*Operator).create}, // those of the body, in JSON Lines
		{"GET", "/snapshot", Socket, (*Operator).snapshot},
		{"GET", "/count", Socket | Page, (*Operator).count},
		{"GET", "/page/plants", Socket | Page, (*Operator).pagePlants},   // ?from=7&descending=true&name=Mon
		{"GET", "/page/creates", Socket | Page, (*Operator).pageCreates}, // ?after=7&wait=1s, the last ones
		{"GET", pageRequests, Socket | Page, (*Operator).requests},
	}
}

// Options are the sources of the endpoints. A listener needs those of the endpoints that it mounts.
type Options struct {
	Info    Info
	Store   *storage.Store
	Metrics Metrics
	// Problem returns why the server should not get requests, "" if it should, and the cause for the
	// log.
	Problem func() (problem string, cause error)
	// Reset replaces all plants by the seed, and returns their number. It logs failures.
	Reset func(ctx context.Context) (plants int64, err error)
	// Requests keeps the requests of clients; nil: the server is not ephemeral.
	Requests *requests.Recorder
	// Creates keeps the last creates; nil: no server runs.
	Creates *Creates
	// Pprof enables the profiles of the Go runtime at /debug/pprof/.
	Pprof  bool
	Logger *slog.Logger
}

// An Operator serves the endpoints.
type Operator struct {
	Options

	mu   sync.Mutex
	last string // the problem in the last response of /readyz
}

// New returns an Operator.
func New(options Options) *Operator { return &Operator{Options: options} }

// Handler returns the handler of a listener.
func (o *Operator) Handler(l Listener) http.Handler {
	table := endpoints()
	if o.Pprof {
		table = append(table, profiles()...)
	}
	return mount(l, table, o)
}

// A Backend serves endpoints: an [Operator], or the [Client] of a server that has one.
type Backend interface {
	serve(w *response, r *http.Request, e endpoint) error
}

func (o *Operator) serve(w *response, r *http.Request, e endpoint) error { return e.serve(o, w, r) }

// mount returns a handler of the endpoints that a listener mounts.
func mount(l Listener, table []endpoint, backend Backend) http.Handler {
	table = slices.DeleteFunc(table, func(e endpoint) bool { return e.listeners&l == 0 })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := begin(w, r)
		err := error(nil)
		if l != Socket {
			err = guard(r)
		}
		if err == nil {
			var e endpoint
			if e, err = find(table, w, r); err == nil {
				err = backend.serve(out, r, e)
			}
		}
		out.end(r.Context(), err)
	})
}

// find returns the endpoint of a request, or the Error for a path or a method that there is not.
func find(table []endpoint, w http.ResponseWriter, r *http.Request) (endpoint, error) {
	var paths, allow []string
	for _, e := range table {
		paths = append(paths, e.path)
		if e.path != r.URL.Path {
			continue
		}
		methods := []string{e.method}
		if e.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
		if slices.Contains(methods, r.Method) {
			return e, nil
		}
		allow = append(allow, methods...)
	}
	if len(allow) == 0 {
		return endpoint{}, models.NewError(models.CodeNotFound, "there is nothing at this path; there are "+strings.Join(slices.Compact(paths), ", "))
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	return endpoint{}, models.NewError(models.CodeMethodNotAllowed, "this path does not support this method; see the header field Allow")
}
