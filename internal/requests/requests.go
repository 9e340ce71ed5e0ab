// Package requests keeps the last requests of an ephemeral server in memory, so that the author of a
// client can see what it has sent:
//
//	recorder := requests.NewRecorder()
//	options.Logger = recorder.Logger(options.Logger) // the lines of the access log have the outcomes
//	handler := recorder.Handler(routes.New(options), "/docs", server.ReceivedHeader)
//
// Requests and responses pass through it unchanged. Tokens are left out when requests are read from it
// (C4.25).
package requests

import (
	"cmp"
	"context"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
)

const (
	// maxKept bounds the requests that are kept or in progress. The sizes bound each of them to 24 KiB.
	maxKept    = 200
	maxHeader  = 13 << 10
	maxBody    = 8 << 10
	maxMessage = 1 << 10
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
	Lines      []Line    `json:"lines,omitzero"`    // see [Request.SetLines]
}

// A Field is a header field. Of a credential it has only the scheme and the outcome.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// A Recorder keeps requests. A nil Recorder keeps none.
type Recorder struct {
	mu         sync.Mutex
	kept       []*entry // oldest first
	inProgress int
	last       int64         // the highest Number so far
	added      chan struct{} // closed, and removed, when a request is added; nil if nothing waits
}

// NewRecorder returns an empty Recorder.
func NewRecorder() *Recorder { return new(Recorder) }

// begin makes space for a request. It returns false if too many are in progress.
func (r *Recorder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.inProgress == maxKept {
		return false
	}
	if len(r.kept)+r.inProgress == maxKept {
		r.kept = slices.Delete(r.kept, 0, 1)
	}
	r.inProgress++
	return true
}

// end keeps a request that has begun.
func (r *Recorder) end(e *entry) {
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

// Refused keeps a request that net/http refused.
func (r *Recorder) Refused(failure *models.Error, requestID string, remote net.Addr) {
	if r != nil && r.begin() {
		r.end(&entry{Request: Request{
			Time: time.Now(), Remote: remote.String(), RequestID: requestID,
			Status: http.StatusBadRequest, Error: int(failure.Code), Message: failure.Message,
		}})
	}
}

// ServeHTTP responds to a GET with the kept requests as JSON Lines, oldest first: of ?after=7&wait=10s
// those with higher numbers, as soon as there is one. A number that no request has had, such as that of
// an earlier server, counts as 0. A DELETE removes all requests.
func (r *Recorder) ServeHTTP(w http.ResponseWriter, query *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // it would end the wait
	all, failure := r.query(query)
	if failure != nil {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = w.Write(failure.Body()) // best effort
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	encoder := jsontext.NewEncoder(w)
	for _, e := range all {
		_ = json.MarshalEncode(encoder, e.request()) // best effort
	}
}

func (r *Recorder) query(query *http.Request) (all []*entry, failure *models.Error) {
	after, err := strconv.ParseInt(cmp.Or(query.FormValue("after"), "0"), 10, 64)
	wait, waitErr := time.ParseDuration(cmp.Or(query.FormValue("wait"), "0s"))
	switch {
	case r == nil:
		return nil, models.NewError(models.CodeForbidden,
			"only a server that was started with --ephemeral keeps requests: start one with plantstore serve --ephemeral")
	case err != nil || waitErr != nil || wait > maxWait:
		return nil, models.Errorf(models.CodeBadRequest, "after: must be a number; wait: must be at most %v, such as 10s", maxWait)
	}
	ctx, cancel := context.WithTimeout(query.Context(), wait)
	defer cancel()
	for {
		r.mu.Lock()
		if query.Method == http.MethodDelete {
			r.kept = nil
		}
		if r.added == nil {
			r.added = make(chan struct{})
		}
		all, last, added := slices.Clone(r.kept), r.last, r.added
		r.mu.Unlock()
		all = slices.DeleteFunc(all, func(e *entry) bool { return e.Number <= after && after <= last })
		if len(all) > 0 {
			return all, nil
		}
		select {
		case <-added:
		case <-ctx.Done():
			return nil, nil
		}
	}
}
