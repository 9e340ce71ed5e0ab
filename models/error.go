package models

import "fmt"

// A Code says what kind of failure an [Error] reports. It is the status number
// that RFC 9110, RFC 6585 or RFC 4918 gives that failure, carried in the body
// because the contract answers every failure with HTTP status 400 (C1.3, C1.4).
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
	CodeHeaderTooLarge     Code = 431
	CodeInternal           Code = 500
	CodeNotImplemented     Code = 501
	CodeUnavailable        Code = 503
	CodeVersionUnsupported Code = 505
	CodeInsufficientSpace  Code = 507
)

// ServerFault reports whether a code says that the server, its store or its disk
// could not: then another client's request would have failed as well.
func (c Code) ServerFault() bool {
	return c >= CodeInternal && c != CodeNotImplemented && c != CodeVersionUnsupported
}

// A CodeMeaning is one row of the list of codes.
type CodeMeaning struct {
	Code    Code
	Meaning string
}

// Codes returns the list of codes in ascending order. The OpenAPI description,
// the README and the tests are held against it.
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
		{CodeUnprocessable, "JSON is fine, but no NewPlant"},
		{CodeHeaderTooLarge, "headers too large"},
		{CodeInternal, "fault of the server or of its storage"},
		{CodeNotImplemented, "unsupported transfer coding"},
		{CodeUnavailable, "overloaded, storage not available, or shutting down"},
		{CodeVersionUnsupported, "HTTP version not supported"},
		{CodeInsufficientSpace, "no space left to store the plant"},
	}
}

// An Error is the body of every answer that is not a success (C1.3): exactly
// the members error and message. It is an error value as well, so that it can
// travel up to the one place that writes it.
type Error struct {
	Code    Code   `json:"error"`
	Message string `json:"message"`

	cause error // for the log only, never sent
}

// NewError returns an Error with a message that a client can act on.
func NewError(code Code, message string) *Error {
	return &Error{Code: code, Message: message}
}

// Errorf is [NewError] with a formatted message.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// WithCause returns a copy of e that carries what went wrong inside. The cause
// is for the log and for [errors.Is]; it is never sent to a client (C1.5).
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
