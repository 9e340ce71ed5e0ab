package middleware

import (
	"io"
	"math"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/models"
)

// FaultOptions are the settings of [Faults].
type FaultOptions struct {
	// Forbidden is the error 403 of a token without the scope.
	Forbidden *models.Error
	// RateLimit is the limit in an error 429, such as 100/s.
	RateLimit string
	// Refusal returns the error with which the server refuses a request before any handler.
	Refusal func(code models.Code) *models.Error
}

// Faults makes the faults that requests demand by Prefer (RFC 7240). It comes after the check of
// the credential, so that only clients that could create a plant get a fault. Each fault happens at
// the position of the real failure and, as far as possible, in the same function: earlier checks
// still fail first (C2.8), and the response is the same except for Preference-Applied (C1.7). The
// handler makes the faults of a body and of the store. Without options Faults does nothing.
func Faults(o *FaultOptions) gin.HandlerFunc {
	if o == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		r := RequestOf(c)
		r.Fault = models.ParsePrefer(c.Request.Header["Prefer"])
		delay(c, r)
		o.makeFault(c, r)
	}
}

// delay waits as the fault says, unless the time limit of the request ends before.
func delay(c *gin.Context, r *Request) {
	d := r.Fault.Delay
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.Header(appliedHeader, "delay="+d.String())
	case <-c.Request.Context().Done():
		r.Fault.Delay = 0 // not made
	}
}

// makeFault makes the fault, or changes the request so that a later check fails.
func (o *FaultOptions) makeFault(c *gin.Context, r *Request) {
	r.MadeFault = true
	switch code := r.Fault.Code; code {
	case models.CodeUnauthorized:
		_, attribute, err := credential(nil)
		reject(c, attribute, err)
	case models.CodeForbidden:
		reject(c, errorCode(o.Forbidden), o.Forbidden)
	case models.CodeNotFound:
		NotFound(c)
	case models.CodeMethodNotAllowed:
		c.Header("Allow", http.MethodPost)
		MethodNotAllowed(c)
	case models.CodeTooManyRequests:
		failRate(c, o.RateLimit, time.Second)
	case models.CodeUnsupportedMedia:
		c.Request.Header.Del("Content-Type")
	case models.CodeContentTooLarge:
		c.Request.ContentLength = math.MaxInt64
	case models.CodeRequestTimeout:
		c.Request.Body = slowBody{c.Request.Body}
	case models.CodeExpectationFailed, models.CodeHeaderTooLarge, models.CodeNotImplemented, models.CodeVersionUnsupported:
		refusal := o.Refusal(code)
		asRefused(c.Writer.Header(), refusal)
		c.Request.ProtoMinor = 1 // such a response has the version HTTP/1.1
		Fail(c, refusal)
	default:
		r.MadeFault = false // but perhaps by the handler
	}
}

// asRefused changes the header of a response to that of a request that no middleware sees: it has
// another request id, and CORS fields only if all origins are allowed (C1.6, C3.19).
func asRefused(header http.Header, refusal *models.Error) {
	header[requestIDHeader] = models.RequestID(nil)
	if header.Get("Access-Control-Allow-Origin") != "*" {
		header.Del("Access-Control-Allow-Origin")
		header.Del("Access-Control-Expose-Headers")
	}
	header.Set("Connection", "close")
	// Among the others, as in the server's own response; net/http would append them.
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	header.Set("Content-Length", strconv.Itoa(len(refusal.Body())))
}

// A slowBody is a body that does not arrive in time.
type slowBody struct{ io.Closer }

func (slowBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

const appliedHeader = "Preference-Applied"

// applyFault sets Preference-Applied if the response is the failure of the fault.
func (r *Request) applyFault(header http.Header) {
	if r.isFault() {
		applied := "code=" + r.Fault.Code.String()
		if r.Fault.Delay > 0 {
			applied = "delay=" + r.Fault.Delay.String() + ", " + applied
		}
		header.Set(appliedHeader, applied)
	}
}

// madeFault returns the part of the fault that was made.
func (r *Request) madeFault() models.Fault {
	made := r.Fault
	if !r.isFault() {
		made.Code, made.Outcome = 0, ""
	}
	return made
}
