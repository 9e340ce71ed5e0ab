// Package faults provides errors on demand: a request asks for a failure in the header field Prefer
// (RFC 7240), so that you can test how a client handles it. The wrapped handler does not depend on
// this package:
//
//	handler := faults.New(faults.Options{Handler: routes.New(options), …})
//
// Only a create with a valid credential gets a fault. The response is that of the real failure,
// byte for byte except for Preference-Applied, and an earlier check still fails first (C1.7, C2.8),
// because the real check fails:
//
//   - 400, 401, 404, 405, 408, 413 and 415: the handler gets a changed request (request.go);
//   - 403 and 429: a handler that requires another scope, or has no rate left, gets the request;
//   - 409, 422, 500, 503 and 507: the Store that the handler uses fails (store.go);
//   - 417, 431, 501 and 505: the connection gets what package server writes without any handler.
//
// The access log and the metrics show the operator which failures were on demand (observe.go).
package faults

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"plantstore/internal/server"
	"plantstore/models"
)

// Options are the parts of a server for clients, and its settings. All are required, but for CORS.
type Options struct {
	// Handler handles all requests. It uses [NewStore], [NewLogger] and [NewObserve].
	Handler http.Handler
	// Forbidden is Handler, but rejects each token with error 403.
	Forbidden http.Handler
	// Limited is Handler, but with [NoRate].
	Limited http.Handler
	// Authorized reports whether a request with this header has a valid credential.
	Authorized func(http.Header) bool
	// CORS are the CORS header fields of the responses of the server itself.
	CORS http.Header
	// Logger gets a line for each fault that does not reach Handler.
	Logger *slog.Logger
	// Count is called for these.
	Count Count
}

// Count counts a fault: its code, 0 for none, and whether the response was delayed.
type Count func(code models.Code, delayed bool)

// A NoRate is a rate limiter whose clients have used up the rate that it names, such as 100/s.
type NoRate string

// Take returns the time to wait.
func (NoRate) Take(string) time.Duration { return time.Second }

// Rate returns the rate.
func (r NoRate) Rate() string { return string(r) }

// New returns the outer handler.
func New(o Options) http.Handler { return handler{o} }

type handler struct{ Options }

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

// ServeHTTP implements [http.Handler].
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d := &demand{Fault: ParsePrefer(r.Header["Prefer"])}
	if d.Fault == (Fault{}) || r.Method != http.MethodPost || r.URL.Path != plantsPath || !h.Authorized(r.Header) {
		h.Handler.ServeHTTP(w, r)
		return
	}
	d.delay(r.Context())
	in, out := r.Clone(context.WithValue(r.Context(), demandKey{}, d)), &response{ResponseWriter: w, demand: d}
	switch d.Code {
	case models.CodeExpectationFailed, models.CodeHeaderTooLarge, models.CodeNotImplemented, models.CodeVersionUnsupported:
		h.refuse(w, r, d)
	case models.CodeForbidden:
		d.caused = true
		h.Forbidden.ServeHTTP(out, in)
	case models.CodeTooManyRequests:
		d.caused = true
		h.Limited.ServeHTTP(out, in)
	default:
		d.caused = change(in, d.Code)
		h.Handler.ServeHTTP(out, in)
	}
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
	d.caused, d.applied = true, true
	failure := server.Refusal(d.Code)
	header := server.RefusalHeader(failure, h.CORS)
	header.Set(appliedField, d.preferences())
	w.Header().Set("Connection", "close") // so that package server reads the rest before it closes the connection
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil { // never in HTTP/1.1
		panic(http.ErrAbortHandler)
	}
	context.AfterFunc(r.Context(), func() { _ = conn.Close() }) // after the handlers have returned
	_ = server.WriteRefusal(conn, header, failure)              // a client that has gone needs no response
	h.Count(d.Code, d.Delay > 0)
	h.Logger.LogAttrs(r.Context(), slog.LevelInfo, "refused",
		slog.String("outcome", outcome), slog.String("request_id", header.Get("X-Request-Id")), slog.String("remote", r.RemoteAddr),
		slog.Int("error", int(d.Code)), slog.String("message", failure.Message))
}
