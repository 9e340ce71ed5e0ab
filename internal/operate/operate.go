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
	"cmp"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof" // it registers its paths in a mux that this program does not serve
	runtimepprof "runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"plantstore/internal/loopback"
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

// An endpoint is a row of the table: what methods do at a path.
type endpoint struct {
	methods, path string
	listeners     Listener // that mount it
	serve         func(*Operator, *response, *http.Request) error
}

// getOrHead are the methods that read: HEAD is GET without a body.
const getOrHead = "GET, HEAD"

// methodQuery is the method of a safe request with a body.
const methodQuery = "QUERY"

// pageRequests is the path of the requests with lines for people.
const pageRequests = "/page/requests"

// endpoints returns the table.
func endpoints() []endpoint {
	return []endpoint{
		{getOrHead, "/livez", Admin, (*Operator).live},
		{getOrHead, "/readyz", Admin | Socket, (*Operator).ready},
		{getOrHead, "/metrics", Admin, (*Operator).metrics},
		{"POST", "/reset", Admin | Socket, (*Operator).reset},
		{getOrHead, "/requests", Admin | Socket, (*Operator).requests},
		{"DELETE", "/requests", Admin, (*Operator).requests},
		{getOrHead, "/info", Socket, (*Operator).info},
		{getOrHead, "/plant", Socket, (*Operator).get},       // ?id=7
		{getOrHead, "/plants", Socket, (*Operator).list},     // ?from=7
		{"POST", "/plants", Socket, (*Operator).create},      // those of the body, in JSON Lines
		{methodQuery, "/plants", Socket, (*Operator).dryRun}, // of those of the body
		{getOrHead, "/snapshot", Socket, (*Operator).snapshot},
		{getOrHead, "/count", Socket | Page, (*Operator).count},
		{getOrHead, "/page/plants", Socket | Page, (*Operator).pagePlants},   // ?from=7&descending=true&name=Mon
		{getOrHead, "/page/creates", Socket | Page, (*Operator).pageCreates}, // ?after=7&wait=1s, the last ones
		{getOrHead, pageRequests, Socket | Page, (*Operator).requests},
	}
}

// profiles returns the endpoints of the profiles of the Go runtime, without the command line: a storage
// URL in it may contain a password (C4.25).
func profiles() []endpoint {
	all := []endpoint{profile("", pprof.Index), profile("profile", pprof.Profile), profile("trace", pprof.Trace), profile("symbol", pprof.Symbol)}
	for _, p := range runtimepprof.Profiles() {
		all = append(all, profile(p.Name(), pprof.Index))
	}
	return all
}

// longestProfile is the maximum duration of a profile in seconds.
const longestProfile = 110

// profile returns the endpoint of a profile. It refuses one that takes longer than longestProfile: package
// pprof extends the time limits of the server for it.
func profile(name string, handler http.HandlerFunc) endpoint {
	return endpoint{getOrHead, "/debug/pprof/" + name, Admin | Socket, func(_ *Operator, w *response, r *http.Request) error {
		for _, text := range r.URL.Query()["seconds"] {
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || !(seconds >= 0 && seconds <= longestProfile) { // NaN fails both comparisons
				return models.Errorf(models.CodeBadRequest, "the profile was refused: seconds: must be a number from 0 to %d", longestProfile)
			}
		}
		handler(w, r)
		return nil
	}}
}

// An Operator serves the endpoints. A listener needs the fields of those that it mounts.
type Operator struct {
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

	last atomic.Value // the problem in the last response of /readyz, a string
}

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
		out := newResponse(w, r)
		e, err := find(table, w, r)
		if l != Socket {
			err = cmp.Or(guard(r), err)
		}
		if err == nil {
			err = backend.serve(out, r, e)
		}
		out.end(r.Context(), err)
	})
}

// find returns the endpoint of a request, or the Error for a path or a method that there is not.
func find(table []endpoint, w http.ResponseWriter, r *http.Request) (endpoint, error) {
	var paths, allow []string
	for _, e := range table {
		paths = append(paths, e.path)
		switch {
		case e.path != r.URL.Path:
		case slices.Contains(strings.Split(e.methods, ", "), r.Method):
			return e, nil
		default:
			allow = append(allow, e.methods)
		}
	}
	if len(allow) == 0 {
		return endpoint{}, models.NewError(models.CodeNotFound, "there is nothing at this path; there are "+strings.Join(slices.Compact(paths), ", "))
	}
	w.Header().Set("Allow", strings.Join(allow, ", "))
	return endpoint{}, models.NewError(models.CodeMethodNotAllowed, "this path does not support this method; see the header field Allow")
}

// guard returns an Error for a request that a page of another origin in a browser on this machine could
// cause: pages must neither read from a listener nor make it act. It returns nil for all others.
func guard(r *http.Request) error {
	if site := r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" && site != "none" {
		return models.NewError(models.CodeForbidden, "requests of pages of other origins are refused: open the address itself")
	}
	if origin := r.Header.Get("Origin"); origin != "" && !strings.HasSuffix(origin, "://"+r.Host) {
		return models.NewError(models.CodeForbidden, "requests of pages of other origins are refused: send no Origin")
	}
	return guardHost(r)
}

// guardHost returns an Error for a name of another site that resolves to a loopback address (DNS
// rebinding).
func guardHost(r *http.Request) error {
	local, _ := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if local != nil && local.IP.IsLoopback() && r.Host != "" && !loopback.Is(r.Host) { // HTTP/1.0 has no Host, and no browser speaks it
		return models.NewError(models.CodeForbidden, "over a loopback address, Host must be localhost or a loopback address, with any port")
	}
	return nil
}
