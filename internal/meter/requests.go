package meter

import (
	"net/http"
	"sync/atomic"
	"time"

	"plantstore/models"
)

// An Outcome is what became of a request, as far as an operator cares.
type Outcome string

// The outcomes of requests.
const (
	Created Outcome = "created" // a plant was
	Read    Outcome = "read"    // a document
	Refused Outcome = "refused" // the client can do better
	Failed  Outcome = "failed"  // the server, its store or its disk could not: see [models.Code.ServerFault]
)

// Outcomes returns all outcomes.
func Outcomes() []Outcome { return []Outcome{Created, Read, Refused, Failed} }

// OutcomeOf returns what an answer with an Error of that code means.
func OutcomeOf(code models.Code) Outcome {
	if code.ServerFault() {
		return Failed
	}
	return Refused
}

// Errors counts Errors by their codes. The zero value is ready.
type Errors struct {
	counts [models.CodeInsufficientSpace - models.CodeBadRequest + 1]atomic.Uint64
}

// Add counts one. A code beyond the list counts as [models.CodeInternal].
func (e *Errors) Add(code models.Code) {
	i := int(code - models.CodeBadRequest)
	if i < 0 || i >= len(e.counts) {
		i = int(models.CodeInternal - models.CodeBadRequest)
	}
	e.counts[i].Add(1)
}

// Count returns how many there were of a code that is in the list.
func (e *Errors) Count(code models.Code) uint64 { return e.counts[code-models.CodeBadRequest].Load() }

// Requests counts what a handler has answered, and how long it took.
type Requests struct {
	Errors Errors

	took map[Outcome]*Histogram // never changed
}

// NewRequests returns one that has counted nothing.
func NewRequests() *Requests {
	r := &Requests{took: make(map[Outcome]*Histogram)}
	for _, outcome := range Outcomes() {
		r.took[outcome] = Durations()
	}
	return r
}

// Observe counts an answer to a request with that method: an Error of that code,
// or, if it is 0, a success.
func (r *Requests) Observe(method string, code models.Code, took time.Duration) {
	outcome := Read
	switch {
	case code != 0:
		outcome = OutcomeOf(code)
		r.Errors.Add(code)
	case method == http.MethodPost: // plants are all that can be posted (C1.1)
		outcome = Created
	}
	r.took[outcome].Observe(int64(took))
}

// Took returns how long answers of that outcome took, in nanoseconds.
func (r *Requests) Took(outcome Outcome) Distribution { return r.took[outcome].Read() }
