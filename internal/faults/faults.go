// Package faults provides errors on demand: a request asks for a failure in the header field Prefer
// (RFC 7240), so that you can test how a client handles it. [New] is [routes.New] with faults.
//
// Only a create with a valid credential gets a fault. The response is that of the real failure,
// byte for byte except for Preference-Applied, and an earlier check still fails first (C1.7, C2.8),
// because the real check fails:
//
//   - 400, 401, 404, 405, 408, 413 and 415: the routes get a changed request (request.go);
//   - 403, 409, 422, 429, 500, 503 and 507: the verifier, the rate limiter or the store of the routes
//     fails (routes.go);
//   - 417, 431, 501 and 505: the connection gets what package server writes without any handler.
package faults

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/routes"
)

// The scope and the rate that the errors 403 and 429 name if there is none.
const (
	exampleScope = "plants:create"
	exampleRate  = "100/s"
)

// New returns the handler of all routes with faults on demand. Store and Verify must be set. The function
// accepts reports whether a token is valid, without counting it. Verify requires the scope, which may be
// empty.
func New(o routes.Options, accepts func(ctx context.Context, token string) bool, scope string) (http.Handler, error) {
	o.Verify = verify(o.Verify, auth.MissingScope(cmp.Or(scope, exampleScope)))
	o.RateLimit = limiter{o.RateLimit}
	o.Store = store{o.Store}
	o.Observe = observe(o.Observe)
	next, err := routes.New(o)
	return handler{next, accepts, o.Origins.Header(""), o.Observe}, err
}

type handler struct {
	routes  http.Handler
	accepts func(ctx context.Context, token string) bool
	cors    http.Header // of the responses of the server itself
	observe middleware.Observe
}

// A demand is the fault that a request demands. The context of the request has it.
type demand struct {
	Fault // without a delay that was not made

	caused  bool // its failure was caused; an earlier check may have failed first
	applied bool // the response is its failure
}

type demandKey struct{}

func demandOf(ctx context.Context) *demand {
	d, _ := ctx.Value(demandKey{}).(*demand)
	return d
}

// cause reports whether the request with this context demands a failure with this code, which the
// caller then causes.
func cause(ctx context.Context, code models.Code) bool {
	d := demandOf(ctx)
	if d == nil || d.Code != code {
		return false
	}
	d.caused = true
	return true
}

// ServeHTTP implements [http.Handler].
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := &demand{Fault: ParsePrefer(r.Header["Prefer"])}
	if d.Fault == (Fault{}) || r.Method != http.MethodPost || r.URL.Path != models.PlantsPath || !h.authorized(r) {
		h.routes.ServeHTTP(w, r)
		return
	}
	d.delay(r.Context())
	switch d.Code {
	case models.CodeExpectationFailed, models.CodeHeaderTooLarge, models.CodeNotImplemented, models.CodeVersionUnsupported:
		h.refuse(w, r, d)
		return
	}
	in := r.Clone(context.WithValue(r.Context(), demandKey{}, d))
	d.caused = change(in, d.Code)
	h.routes.ServeHTTP(&response{ResponseWriter: w, demand: d}, in)
}

func (h handler) authorized(r *http.Request) bool {
	token, err := middleware.Token(r.Header)
	return err == nil && h.accepts(r.Context(), token)
}

// delay waits as the fault says, unless the time limit of the request ends before.
func (d *demand) delay(ctx context.Context) {
	if d.Delay == 0 {
		return
	}
	timer := time.NewTimer(d.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
		d.Delay = 0
	}
}

// refuse responds as package server does to a request that net/http refuses.
func (h handler) refuse(w http.ResponseWriter, r *http.Request, d *demand) {
	d.applied = true
	failure := server.Refusal(d.Code)
	header := server.RefusalHeader(failure, h.cors)
	header.Set(appliedField, d.preferences())
	w.Header().Set("Connection", "close") // so that package server reads the rest before it closes the connection
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // never in HTTP/1.1
		panic(http.ErrAbortHandler)
	}
	context.AfterFunc(r.Context(), func() { _ = conn.Close() }) // after the handlers have returned
	_ = server.WriteRefusal(conn, header, failure)              // a client that has gone needs no response
	outcome := middleware.NewRefusal(failure, r.RemoteAddr, header.Get("X-Request-Id"))
	h.observe(context.WithValue(r.Context(), demandKey{}, d), outcome)
}
