package middleware

import (
	"context"
	"log/slog"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// The values of [Outcome.Name].
const (
	Created = "created"
	Read    = "read"    // another success: a document, a redirect or a preflight
	Refused = "refused" // the client can avoid it
	Failed  = "failed"  // see [models.Code.ServerFault]
	Unknown = "unknown" // an internal error, and the plant may be stored
	Fault   = "fault"   // the client has demanded the failure
)

// An Outcome is a request and what became of it. The handlers of a request note what they find out, and
// [Outcomes] completes it for an [Observe]. Without a Request, net/http has refused the request: then only
// Name, Level, Status, Error, Began, Remote and RequestID are set.
type Outcome struct {
	Name  string
	Level slog.Level // of its line in the log

	Request      *http.Request
	Method, Path string // without tokens (C4.25)
	Status       int
	Error        *models.Error // nil: a success
	Subject      string        // of the verified token
	Plant        bool          // PlantID and Stored are set
	PlantID      int64
	Stored       time.Duration // time in the store
	Began        time.Time
	Took         time.Duration
	Delayed      time.Duration // as the client has demanded, a part of Took
	Remote       string        // the address of the client
	RequestID    string
	TraceID      string // of traceparent, empty without one
	Prefer       string // the values of Prefer, if they had no effect

	response []byte      // empty, with capacity for most responses
	keys     map[any]any // for gin.Context.Keys
}

// Observe gets the [Outcome] of a request, which is reused after its return. The context is that of the request.
type Observe func(ctx context.Context, o *Outcome)

// outcomeKey is the key of the Outcome in [gin.Context.Keys].
type outcomeKey struct{}

// usualResponse is the size in bytes that most responses don't exceed.
const usualResponse = 128

// Outcomes gives the Outcome of each request to observe, unless it is nil.
func Outcomes(observe Observe) gin.HandlerFunc {
	outcomes := sync.Pool{New: func() any {
		return &Outcome{response: make([]byte, 0, usualResponse), keys: make(map[any]any)}
	}}
	return func(c *gin.Context) {
		o := outcomes.Get().(*Outcome) //nolint:forcetypeassert // nothing else is put there
		o.Began = time.Now()
		c.Keys, o.keys[outcomeKey{}] = o.keys, o
		returned := false
		defer func() {
			if !returned { // a panic passes through
				o.Error = errAborted
			}
			if observe != nil {
				o.complete(c)
				observe(c.Request.Context(), o)
			}
			clear(o.keys) // other handlers may have set some
			*o = Outcome{keys: o.keys, response: o.response}
			outcomes.Put(o)
		}()
		c.Next()
		returned = true
	}
}

// errAborted is the Error of a request whose response is not complete. No client gets it.
var errAborted = models.NewError(models.CodeInternal, "the connection was closed before the end of the response")

// OutcomeOf returns the Outcome of c, or a new one that nobody observes.
func OutcomeOf(c *gin.Context) *Outcome {
	if o, ok := c.Keys[outcomeKey{}].(*Outcome); ok {
		return o
	}
	return new(Outcome)
}

// Message returns the message of the Error, empty for a success, without tokens (C4.25).
func (o *Outcome) Message() string {
	if o.Error == nil {
		return ""
	}
	return models.Redact(o.Error.Message)
}

// Cause returns the cause of the Error, which is not for clients, without tokens (C4.25).
func (o *Outcome) Cause() string {
	switch {
	case o.Error == nil || o.Error.Unwrap() == nil:
		return ""
	case o.Error.Code.ServerFault(): // perhaps with a stack
		return models.Redact(o.Error.Unwrap().Error())
	}
	return models.ClientText(o.Error.Unwrap().Error())
}

// NotePlant records the id of the plant and the time in the store. unknown reports whether the
// plant may be stored although the store has failed.
func (o *Outcome) NotePlant(id int64, stored time.Duration, unknown bool) {
	o.Plant, o.PlantID, o.Stored = true, id, stored
	if unknown {
		o.Name = Unknown
	}
}

// complete sets everything that the handlers have not set.
func (o *Outcome) complete(c *gin.Context) {
	o.Took = time.Since(o.Began)
	o.Request = c.Request
	o.Method, o.Path = c.Request.Method, c.FullPath()
	if o.Path == "" { // not a route: the path, and the method, may be any text
		o.Method, o.Path = models.ClientText(o.Method), models.ClientText(c.Request.URL.Path)
	}
	o.Status = c.Writer.Status()
	o.Remote = c.Request.RemoteAddr
	header := c.Writer.Header()
	if ids := header[requestIDHeader]; len(ids) > 0 {
		o.RequestID = ids[0]
	}
	o.TraceID = traceID(c.Request.Header["Traceparent"])
	if prefer := c.Request.Header["Prefer"]; prefer != nil && header["Preference-Applied"] == nil {
		o.Prefer = models.ClientText(strings.Join(prefer, ", "))
	}
	o.classify()
}

// classify sets Name and Level. Server errors have level error, lack of space or capacity level
// warn, all else level info.
func (o *Outcome) classify() {
	o.Level = slog.LevelInfo
	switch {
	case o.Error == nil && o.Plant:
		o.Name = Created
	case o.Error == nil:
		o.Name = Read
	case o.Name == Unknown:
		o.Level = slog.LevelError
	case !o.Error.Code.ServerFault():
		o.Name = Refused
	case o.Error.Code == models.CodeInternal:
		o.Name, o.Level = Failed, slog.LevelError
	default: // temporary
		o.Name, o.Level = Failed, slog.LevelWarn
	}
}

// NewRefusal returns the Outcome of a request that net/http has refused.
func NewRefusal(e *models.Error, remote, requestID string) *Outcome {
	o := &Outcome{Status: http.StatusBadRequest, Error: e, Began: time.Now(), Remote: remote, RequestID: requestID}
	o.classify()
	return o
}

// traceparent is the format of W3C Trace Context, section 3.2: version, trace id, parent id and
// flags. Future versions may have more fields.
var traceparent = regexp.MustCompile(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$`)

// maxTraceparent is the maximum length of a value that is searched.
const maxTraceparent = 255

// traceID returns the trace id in the values of traceparent, or "" unless there is
// exactly one valid value.
func traceID(values []string) string {
	if len(values) != 1 || len(values[0]) > maxTraceparent {
		return ""
	}
	m := traceparent.FindStringSubmatch(values[0])
	if m == nil {
		return ""
	}
	version, trace, parent, more := m[1], m[2], m[3], m[4]
	switch {
	case version == "ff", version == "00" && more != "",
		trace == "00000000000000000000000000000000", parent == "0000000000000000":
		return ""
	}
	return trace
}
