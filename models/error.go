package models

import (
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// A Code is the kind of failure that an [Error] reports: the status code of that failure in RFC 9110, RFC 6585
// or RFC 4918. The body carries it, because the HTTP status of every failure is 400 (C1.3, C1.4).
type Code int32

// The codes of all failures. [Codes] lists them with their meaning.
const (
	CodeBadRequest         Code = 400
	CodeUnauthorized       Code = 401
	CodeForbidden          Code = 403
	CodeNotFound           Code = 404
	CodeMethodNotAllowed   Code = 405
	CodeRequestTimeout     Code = 408
	CodeConflict           Code = 409
	CodeContentTooLarge    Code = 413
	CodeUnsupportedMedia   Code = 415
	CodeExpectationFailed  Code = 417
	CodeUnprocessable      Code = 422
	CodeTooManyRequests    Code = 429
	CodeHeaderTooLarge     Code = 431
	CodeInternal           Code = 500
	CodeNotImplemented     Code = 501
	CodeUnavailable        Code = 503
	CodeVersionUnsupported Code = 505
	CodeInsufficientSpace  Code = 507
)

// String returns the number.
func (c Code) String() string { return strconv.Itoa(int(c)) }

// ServerFault reports whether the server, its store or its disk caused the failure.
func (c Code) ServerFault() bool {
	return c >= CodeInternal && c != CodeNotImplemented && c != CodeVersionUnsupported
}

// Temporary reports whether the failure is one of capacity or space, so that the same request may
// succeed soon. Its response has Retry-After: [RetryAfter] (C1.6).
func (c Code) Temporary() bool { return c == CodeUnavailable || c == CodeInsufficientSpace }

// RetryAfter is how many seconds a client should wait after a temporary failure.
const RetryAfter = "1"

// A CodeMeaning is a code and its meaning.
type CodeMeaning struct {
	Code    Code
	Meaning string
}

// Codes returns all codes in ascending order. Tests compare the OpenAPI description
// and docs/errors.md with it.
func Codes() []CodeMeaning {
	return []CodeMeaning{
		{CodeBadRequest, "malformed JSON or malformed HTTP"},
		{CodeUnauthorized, "credential missing or not valid"},
		{CodeForbidden, "credential valid, but not allowed here"},
		{CodeNotFound, "no such path"},
		{CodeMethodNotAllowed, "wrong method"},
		{CodeRequestTimeout, "request too slow"},
		{CodeConflict, "id taken"},
		{CodeContentTooLarge, "body too large"},
		{CodeUnsupportedMedia, "wrong media type or content coding"},
		{CodeExpectationFailed, "unknown Expect"},
		{CodeUnprocessable, "valid JSON, but not a NewPlant"},
		{CodeTooManyRequests, "too many requests, if a rate limit is configured"},
		{CodeHeaderTooLarge, "header too large"},
		{CodeInternal, "fault of the server or of its storage"},
		{CodeNotImplemented, "unsupported transfer coding"},
		{CodeUnavailable, "overloaded, storage not available, or shutting down"},
		{CodeVersionUnsupported, "HTTP version not supported"},
		{CodeInsufficientSpace, "no space left to store the plant"},
	}
}

// An Error is the body of every response that is not a success (C1.3), and an error that handlers return.
type Error struct {
	Code    Code   `json:"error"`
	Message string `json:"message"`

	cause error // never sent to a client
}

// NewError returns an Error. The message should enable the client to act.
func NewError(code Code, message string) *Error { return &Error{Code: code, Message: message} }

// Errorf is [NewError] with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return NewError(code, fmt.Sprintf(format, args...))
}

// TooLarge returns the Error for a body of more than limit bytes (C2.15).
func TooLarge(limit int64) *Error {
	return Errorf(CodeContentTooLarge, "the body is larger than the limit of %d bytes", limit)
}

// Body returns e as the body of a response: JSON and a newline (C1.2).
func (e *Error) Body() []byte {
	encoded, _ := json.Marshal(e, jsontext.AllowInvalidUTF8(true)) // a number and a string always encode
	return append(encoded, '\n')
}

// WithCause returns a copy of e with a cause, for the log and for [errors.Is] (C1.5).
func (e *Error) WithCause(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// Error returns the code, the message and the cause, for a log.
func (e *Error) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("%d: %s", e.Code, e.Message)
	}
	return fmt.Sprintf("%d: %s: %v", e.Code, e.Message, e.cause)
}

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }
