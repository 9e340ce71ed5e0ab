package middleware

import (
	"io"
	"math"
	"net/http"
	"os"
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

// Faults makes the faults that requests demand by Prefer (RFC 7240). It comes after the check of the credential, so that only clients that could create a plant get a fault.
// Each fault happens at the position of the real failure and, as far as possible, in the same
// function: earlier checks still fail first (C2.8), and the response is the same except for
// Preference-Applied (C1.7). The handler makes the faults of a body and of the store, see
// [FaultOf]. Without options Faults does nothing.
func Faults(o *FaultOptions) gin.HandlerFunc {
	if o == nil {
		return func(*gin.Context) {}
	}
	return func(c *gin.Context) {
		l := lineOf(c)
		l.fault = models.ParsePrefer(c.Request.Header["Prefer"])
		delay(c, l.fault.Delay)
		o.makeFault(c, l.fault.Code)
	}
}

// delay waits, unless the time limit of the request ends before.
func delay(c *gin.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		c.Header(appliedHeader, "delay="+d.String())
	case <-c.Request.Context().Done():
		lineOf(c).fault.Delay = 0 // not made
	}
}

// makeFault makes the fault with that code, or changes the request so that a later check fails.
func (o *FaultOptions) makeFault(c *gin.Context, code models.Code) {
	l := lineOf(c)
	l.made = true
	switch code {
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
		asRefused(c.Writer.Header())
		Fail(c, o.Refusal(code))
	default:
		l.made = false // but perhaps by the handler
	}
}

// asRefused changes the header of a response to that of a request that no middleware sees: it has
// another request id, and CORS fields only if all origins are allowed (C1.6, C3.19).
func asRefused(header http.Header) {
	header[requestIDHeader] = models.RequestID(nil)
	if header.Get("Access-Control-Allow-Origin") != "*" {
		header.Del("Access-Control-Allow-Origin")
		header.Del("Access-Control-Expose-Headers")
	}
	header.Set("Connection", "close")
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat)) // among the others, as in the server's own response
}

// A slowBody is a body that does not arrive in time.
type slowBody struct{ io.Closer }

func (slowBody) Read([]byte) (int, error) { return 0, os.ErrDeadlineExceeded }

// FaultOf returns the fault that a request demands. A handler that makes it calls [MadeFault].
func FaultOf(c *gin.Context) models.Fault { return lineOf(c).fault }

// MadeFault records that the response to the request is the failure of [FaultOf].
func MadeFault(c *gin.Context) { lineOf(c).made = true }

const appliedHeader = "Preference-Applied"

// applyFault records that the failure is that of the fault, if it is: an earlier check may have
// failed.
func (l *line) applyFault(header http.Header) {
	if l.made && l.failure.Code == l.fault.Code {
		l.applied = true
		applied := "code=" + l.fault.Code.String()
		if l.fault.Delay > 0 {
			applied = "delay=" + l.fault.Delay.String() + ", " + applied
		}
		header.Set(appliedHeader, applied)
	}
}

// madeFault returns the part of the fault that was made.
func (l *line) madeFault() models.Fault {
	made := l.fault
	if !l.applied {
		made.Code, made.Outcome = 0, ""
	}
	return made
}
