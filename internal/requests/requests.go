// Package requests keeps the last requests of an ephemeral server in memory, so that the author of a
// client can see what it has sent:
//
//	recorder := requests.NewRecorder()
//	options.Logger = slog.New(slog.NewMultiHandler(logger.Handler(), recorder)) // for the outcomes
//	handler := recorder.Wrap(routes.New(options), "/docs", server.HeaderKey{})
//
// Requests and responses pass through it unchanged. Tokens are left out when requests are read from it
// (C4.25).
package requests

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"plantstore/models"
)

const (
	// maxKept bounds the requests that are kept or in progress. The sizes bound each of them to 24 KiB,
	// since messages and subjects are short.
	maxKept   = 200
	maxHeader = 13 << 10
	maxBody   = 8 << 10
	// maxWait is the longest time for which a query waits for a request.
	maxWait = time.Minute
)

// A Request is a kept request and its outcome. If net/http refused it, only the Error is known. The
// header and the body end with … if they were longer.
type Request struct {
	Number     int64     `json:"number"` // from 1 on, in the order of their ends
	Time       time.Time `json:"time"`   // of its beginning
	DurationMS float64   `json:"duration_ms"`
	Remote     string    `json:"remote"`
	Method     string    `json:"method,omitzero"`
	Target     string    `json:"target,omitzero"`
	Version    string    `json:"version,omitzero"`
	Header     []Field   `json:"header"` // in the order and the spelling of the client
	Body       string    `json:"body"`
	BodyBytes  int64     `json:"body_bytes"`           // that were read
	BodyUnread bool      `json:"body_unread,omitzero"` // the request was refused before (C2.8)
	RequestID  string    `json:"request_id"`
	Subject    string    `json:"subject,omitzero"`
	Status     int       `json:"status"`
	Error      int       `json:"error,omitzero"`
	Message    string    `json:"message,omitzero"`
	PlantID    string    `json:"plant_id,omitzero"` // many clients read numbers as float64
	Lines      []string  `json:"lines,omitzero"`    // see [Request.SetLines]
}

// A Field is a header field. Of a credential it has only the scheme and the outcome.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An entry is a request as it was received, with tokens. It does not change after [Recorder.end].
type entry struct {
	Request // without the parts that are in head and body

	head   string // the request line and the header fields
	body   []byte
	create bool // it is a POST /plants
}

// entryKey is the key of the *entry in a context.
type entryKey struct{}

// A Recorder keeps requests. It is an [slog.Handler], since it takes their outcomes from the lines of
// the access log. A nil Recorder keeps none.
type Recorder struct {
	slog.Handler // discards

	mu         sync.Mutex
	kept       []*entry // oldest first
	inProgress int
	last       int64         // the highest Number so far
	added      chan struct{} // closed, and removed, when a request is added; nil if nothing waits
}

// NewRecorder returns an empty Recorder.
func NewRecorder() *Recorder {
	return &Recorder{Handler: slog.DiscardHandler}
}

// begin makes space for a request. It returns false if too many are in progress.
func (r *Recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inProgress == maxKept {
		return false
	}
	r.inProgress++
	r.kept = slices.Delete(r.kept, 0, max(0, len(r.kept)+r.inProgress-maxKept))
	return true
}

// end keeps a request that has begun.
func (r *Recorder) end(e *entry) {
	e.DurationMS = float64(time.Since(e.Time).Microseconds()) / 1000
	r.mu.Lock()
	defer r.mu.Unlock()
	r.inProgress--
	r.last++
	e.Number = r.last
	r.kept = append(r.kept, e)
	if r.added != nil {
		close(r.added)
		r.added = nil
	}
}

// Wrap returns next, and keeps its requests, but not those of the page with that path and its files.
// The context of a request has the text of its header under headerKey.
func (r *Recorder) Wrap(next http.Handler, page string, headerKey any) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if r == nil || strings.HasPrefix(request.URL.Path+"/", page+"/") || !r.begin() {
			next.ServeHTTP(w, request)
			return
		}
		e := &entry{Request: Request{Time: time.Now(), BodyUnread: request.Body != http.NoBody}}
		defer r.end(e) // also after a panic
		e.create = request.Method == http.MethodPost && request.URL.Path == "/plants"
		if e.head, _ = request.Context().Value(headerKey).(string); len(e.head) > maxHeader {
			e.head = e.head[:maxHeader] + "…"
		}
		in := request.WithContext(context.WithValue(request.Context(), entryKey{}, e))
		in.Body = body{request.Body, e}
		next.ServeHTTP(w, in)
	})
}

// A body copies the beginning of a body while it is read.
type body struct {
	io.ReadCloser
	*entry
}

// Read implements [io.Reader].
func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.BodyUnread, b.BodyBytes = false, b.BodyBytes+int64(n)
	b.body = append(b.body, p[:min(n, maxBody-len(b.body))]...)
	return n, err
}

// Enabled implements [slog.Handler]. It is true for all lines of requests.
func (*Recorder) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle implements [slog.Handler]. A request that net/http refused has only a line.
func (r *Recorder) Handle(ctx context.Context, line slog.Record) error {
	e, found := ctx.Value(entryKey{}).(*entry)
	switch {
	case found:
		line.Attrs(e.note)
	case line.Message == "refused" && r.begin():
		e = &entry{Request: Request{Time: line.Time}}
		line.Attrs(e.note)
		r.end(e)
	}
	return nil
}

// note takes an attribute of the line of a request.
func (e *entry) note(attr slog.Attr) bool {
	switch value := attr.Value; attr.Key {
	case "status":
		e.Status = int(value.Int64())
	case "error":
		e.Error, e.Status = int(value.Int64()), http.StatusBadRequest
	case "message":
		e.Message = value.String()
	case "subject":
		e.Subject = value.String()
	case "request_id":
		e.RequestID = value.String()
	case "plant_id":
		e.PlantID = value.String()
	case "remote":
		e.Remote = value.String()
	}
	return true
}

// Query returns the kept requests, oldest first: of ?after=7&wait=10s those with higher numbers, as soon
// as there is one. A number that no request has had, such as that of an earlier server, counts as 0. A
// DELETE removes all requests.
func (r *Recorder) Query(query *http.Request) ([]Request, *models.Error) {
	values, queryErr := url.ParseQuery(query.URL.RawQuery)
	after, afterErr := strconv.ParseInt(cmp.Or(values.Get("after"), "0"), 10, 64)
	wait, waitErr := time.ParseDuration(cmp.Or(values.Get("wait"), "0s"))
	delete(values, "after")
	delete(values, "wait")
	switch {
	case r == nil:
		return nil, models.NewError(models.CodeForbidden,
			"only a server that was started with --ephemeral keeps requests: start one with plantstore serve --ephemeral")
	case queryErr != nil || afterErr != nil || waitErr != nil || wait > maxWait || len(values) > 0:
		return nil, models.Errorf(models.CodeBadRequest,
			"after: must be a number; wait: must be at most %v, such as 10s; there are no other parameters", maxWait)
	}
	ctx, cancel := context.WithTimeout(query.Context(), wait)
	defer cancel()
	for {
		r.mu.Lock()
		if query.Method == http.MethodDelete {
			r.kept = nil
		}
		r.added = cmp.Or(r.added, make(chan struct{}))
		kept, last, added := slices.Clone(r.kept), r.last, r.added
		r.mu.Unlock()
		var all []Request
		for _, e := range kept {
			if e.Number > after || after > last {
				all = append(all, e.request())
			}
		}
		if len(all) > 0 || ctx.Err() != nil || query.Method == http.MethodDelete {
			return all, nil
		}
		select {
		case <-added:
		case <-ctx.Done():
		}
	}
}
