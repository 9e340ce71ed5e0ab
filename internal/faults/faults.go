// Package faults provides errors on demand: a request asks for a failure in the header field Prefer
// (RFC 7240), so that you can test how a client handles it. [New] is [routes.New] with faults.
//
// Only a create with a valid credential gets a fault. The response is that of the real failure,
// byte for byte except for Preference-Applied, and an earlier check still fails first (C1.7, C2.8),
// because the real check fails:
//
//   - 400, 401, 404, 405, 408, 413 and 415: the routes get a changed request;
//   - 403, 409, 422, 429, 500, 503 and 507: the verifier, the rate limiter or the store of the routes
//     fails;
//   - 417, 431, 501 and 505: the connection gets what package server writes without any handler.
package faults

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"strings"
	"time"

	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
)

const (
	// The scope and the rate that the errors 403 and 429 name if there is none.
	exampleScope = "plants:create"
	exampleRate  = "100/s"
	// appliedField is the header field with the preferences that were honored (RFC 7240).
	appliedField = "Preference-Applied"
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
	select {
	case <-time.After(d.Delay):
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

// preferences returns the value of appliedField, "" for none.
func (d *demand) preferences() string {
	var applied []string
	if d.Delay > 0 {
		applied = append(applied, fmt.Sprint("delay=", d.Delay))
	}
	if d.applied {
		applied = append(applied, fmt.Sprint("code=", d.Code))
	}
	return strings.Join(applied, ", ")
}

// A response sets appliedField in a response, whose body [http.ResponseWriter.Write] gets as a whole.
type response struct {
	http.ResponseWriter

	demand *demand
	status int // not yet written
}

func (r *response) WriteHeader(status int) { r.status = status }

func (r *response) Write(p []byte) (int, error) {
	if d := r.demand; r.status != 0 {
		d.applied = d.caused && bytes.HasPrefix(p, fmt.Appendf(nil, `{"error":%v,`, d.Code))
		if applied := d.preferences(); applied != "" {
			r.Header().Set(appliedField, applied)
		}
		r.ResponseWriter.WriteHeader(r.status)
		r.status = 0
	}
	return r.ResponseWriter.Write(p)
}

// observe returns next, which gets the request as the client has sent it, with its delay, and Fault as the
// outcome of a failure on demand. Next may be nil.
func observe(next middleware.Observe) middleware.Observe {
	return func(ctx context.Context, o *middleware.Outcome) {
		if d := demandOf(ctx); d != nil {
			o.Method, o.Path = http.MethodPost, models.PlantsPath
			o.Began, o.Took, o.Delayed = o.Began.Add(-d.Delay), o.Took+d.Delay, d.Delay
			if d.applied { // then nothing has failed
				o.Name, o.Level = middleware.Fault, slog.LevelInfo
			}
		}
		if next != nil {
			next(ctx, o)
		}
	}
}

// change changes a request so that it fails with this code. It returns false for a code that no
// change of a request causes.
func change(r *http.Request, code models.Code) bool {
	switch code {
	case models.CodeBadRequest:
		r.Body = blankBody{r.Body}
	case models.CodeUnauthorized:
		r.Header.Del("Authorization")
	case models.CodeNotFound:
		r.URL.Path = "/nowhere"
	case models.CodeMethodNotAllowed:
		r.Method = http.MethodPut
	case models.CodeRequestTimeout:
		r.Body = slowBody{r.Body}
	case models.CodeContentTooLarge:
		r.ContentLength = math.MaxInt64
	case models.CodeUnsupportedMedia:
		r.Header.Del("Content-Type")
	default:
		return false
	}
	return true
}

// A blankBody has a space in place of each byte, so that it is empty JSON, but as large and as slow.
type blankBody struct{ io.ReadCloser }

func (b blankBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	for i := range p[:n] {
		p[i] = ' '
	}
	return n, err
}

// A slowBody does not arrive in time.
type slowBody struct{ io.Closer }

func (slowBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// verify returns next, which fails with forbidden if a request demands that.
func verify(next middleware.Verify, forbidden error) middleware.Verify {
	return func(ctx context.Context, token string) (subject string, err error) {
		if cause(ctx, models.CodeForbidden) {
			return "", forbidden
		}
		return next(ctx, token)
	}
}

// A limiter makes the requests wait that demand it. The other limiter may be nil.
type limiter struct{ middleware.Limiter }

func (l limiter) Take(ctx context.Context, client string) time.Duration {
	switch {
	case cause(ctx, models.CodeTooManyRequests):
		return time.Second
	case l.Limiter == nil:
		return 0
	}
	return l.Limiter.Take(ctx, client)
}

func (l limiter) Rate() string {
	if l.Limiter == nil {
		return exampleRate
	}
	return l.Limiter.Rate()
}

// A store fails as requests demand, and otherwise creates plants. With [OutcomeStored], it creates the
// plant and fails.
type store struct{ routes.Store }

func (s store) Create(ctx context.Context, id int64, plant models.Plant) error {
	d := demandOf(ctx)
	failure := d.ofStore()
	if failure == nil || d.Outcome == OutcomeStored {
		if err := s.Store.Create(ctx, id, plant); err != nil || failure == nil {
			return err
		}
	}
	d.caused = true
	return failure
}

// ofStore returns the failure of the store that is demanded, if there is one.
func (d *demand) ofStore() error {
	if d == nil {
		return nil
	}
	switch d.Code {
	case models.CodeConflict:
		return &storage.ExistsError{Identical: d.Outcome == OutcomeIdentical}
	case models.CodeUnprocessable: // the plant is valid
		return models.NewDecoder(2).Decode([]byte("{}"), new(models.NewPlant))
	case models.CodeInternal:
		return storage.ErrUnknown
	case models.CodeUnavailable:
		return storage.ErrOverloaded
	case models.CodeInsufficientSpace:
		return storage.ErrNoSpace
	default:
		return nil
	}
}
