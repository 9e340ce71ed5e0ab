package middleware

import (
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// A Request is what the service finds out about a request, for the access log, the metrics and
// the handlers that follow. [AccessLog] makes it; Requests are pooled.
type Request struct {
	subject string        // of the verified token
	noted   bool          // id, stored and unknown are set
	id      int64         // of the plant
	stored  time.Duration // time in the store
	unknown bool          // whether the plant was stored
	failure *models.Error // the response, unless nil

	response []byte      // empty, with capacity for most responses
	keys     map[any]any // for gin.Context.Keys: requestKey only
}

// requestKey is the key of the Request in [gin.Context.Keys].
type requestKey struct{}

// usualResponse is the size in bytes that most responses don't exceed.
const usualResponse = 128

// RequestOf returns the Request of c, or a new one if there is no access log.
func RequestOf(c *gin.Context) *Request {
	if r, ok := c.Keys[requestKey{}].(*Request); ok {
		return r
	}
	return new(Request)
}

func newRequest() any {
	r := &Request{response: make([]byte, 0, usualResponse)}
	r.keys = map[any]any{requestKey{}: r}
	return r
}

// NotePlant records the id of the plant and the time in the store. unknown reports whether the
// outcome is unknown.
func (r *Request) NotePlant(id int64, stored time.Duration, unknown bool) {
	r.noted, r.id, r.stored, r.unknown = true, id, stored, unknown
}

// code returns the code of the Error that is the response, or 0.
func (r *Request) code() models.Code {
	if r.failure == nil {
		return 0
	}
	return r.failure.Code
}
