// Package requests keeps the last requests of an ephemeral server in memory, so that the author of a
// client can see what it has sent:
//
//	recorder := requests.NewRecorder()
//	options.Observe = recorder.Observe // and the log
//	handler := recorder.Wrap(routes.New(options), "/docs")
//
// Requests and responses pass through it unchanged. Of the header it keeps nothing that may be a credential,
// and of the body no token (C4.25).
package requests

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"plantstore/middleware"
	"plantstore/models"
)

const (
	// maxKept bounds the requests that are kept, and those in progress that will be. The sizes bound each of
	// them to 24 KiB, since messages and subjects are short.
	maxKept   = 200
	maxHeader = 13 << 10
	maxBody   = 8 << 10
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
	Header     []Field   `json:"header"` // by name
	Body       string    `json:"body"`
	BodyBytes  int64     `json:"body_bytes"`           // that were read
	BodyUnread bool      `json:"body_unread,omitzero"` // the request was refused before (C2.8)
	RequestID  string    `json:"request_id"`
	Subject    string    `json:"subject,omitzero"`
	Status     int       `json:"status"`
	Error      int       `json:"error,omitzero"`
	Message    string    `json:"message,omitzero"`
	PlantID    string    `json:"plant_id,omitzero"` // many clients read numbers as float64
	Notes      []string  `json:"notes,omitzero"`    // what may be wrong, although nothing is refused for it, or was on demand
	Lines      []string  `json:"lines,omitzero"`    // see [Request.SetLines]
}

// A Field is a header field. Of a credential it has only the scheme and the outcome.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// An entry is a request in progress.
type entry struct {
	Request // without the parts that are in sent and body

	sent *http.Request // nil: net/http has refused it
	body []byte
}

// entryKey is the key of the *entry in a context.
type entryKey struct{}

// A Recorder keeps requests.
type Recorder struct {
	feed       *Feed[Request]
	inProgress chan struct{} // bounds them
}

// NewRecorder returns an empty Recorder.
func NewRecorder() *Recorder {
	return &Recorder{feed: NewFeed[Request](maxKept), inProgress: make(chan struct{}, maxKept)}
}

// keep keeps a request that has ended.
func (r *Recorder) keep(e *entry) {
	e.DurationMS = float64(time.Since(e.Time).Microseconds()) / 1000
	e.redact()
	r.feed.Add(func(number int64) Request {
		e.Number = number
		return e.Request
	})
}

// Wrap returns next, and keeps its requests, but not those of the page with that path and its files, and not
// more than maxKept at a time.
func (r *Recorder) Wrap(next http.Handler, page string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if strings.HasPrefix(request.URL.Path+"/", page+"/") {
			next.ServeHTTP(w, request)
			return
		}
		select {
		case r.inProgress <- struct{}{}:
		default:
			next.ServeHTTP(w, request)
			return
		}
		e := &entry{Request: Request{Time: time.Now(), BodyUnread: request.Body != http.NoBody}, sent: request}
		defer func() { r.keep(e); <-r.inProgress }() // also after a panic
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

// Observe is a [middleware.Observe]. It keeps a request that net/http has refused, too.
func (r *Recorder) Observe(ctx context.Context, o *middleware.Outcome) {
	if e, found := ctx.Value(entryKey{}).(*entry); found {
		e.note(o)
	} else if o.Request == nil {
		e = &entry{Request: Request{Time: o.Began}}
		e.note(o)
		r.keep(e)
	}
}

// note takes the outcome of the request.
func (e *entry) note(o *middleware.Outcome) {
	e.Status, e.Subject, e.RequestID, e.Remote = o.Status, o.Subject, o.RequestID, o.Remote
	if o.Error != nil {
		e.Error, e.Message = int(o.Error.Code), o.Message()
	}
	if o.Plant {
		e.PlantID = strconv.FormatInt(o.PlantID, 10)
	}
	if e.sent != nil && e.sent.Method == http.MethodPost && e.sent.URL.Path == models.PlantsPath {
		e.Notes = notesOf(o, e.body)
	}
}

// Removed returns the number up to which the requests were removed.
func (r *Recorder) Removed() int64 { return r.feed.Removed() }

// Query returns the kept requests, see [Feed.Query]. A DELETE removes all requests.
func (r *Recorder) Query(query *http.Request) ([]Request, *models.Error) {
	if r == nil {
		return nil, models.NewError(models.CodeForbidden,
			"only a server that was started with --ephemeral keeps requests: start one with plantstore serve --ephemeral")
	}
	return r.feed.Query(query)
}
