package server

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"strconv"
	"time"

	"plantstore/models"
)

// Refusal returns the Error with that code for a request that gets no response from the
// handler. A code that net/http does not use is mapped to CodeBadRequest.
func Refusal(code models.Code) *models.Error {
	switch code {
	case models.CodeExpectationFailed:
		return models.NewError(code, "Expect: only 100-continue is supported; send the request without it")
	case models.CodeHeaderTooLarge:
		return errHeaderTooLarge
	case models.CodeInternal:
		return models.NewError(code, "the server could not finish the request, and its outcome is unknown; "+
			"send it again: an id that was created is not created twice")
	case models.CodeNotImplemented:
		return models.NewError(code, "Transfer-Encoding: only chunked is supported, once")
	case models.CodeUnavailable:
		return models.NewError(code, "the server is shutting down and has not read the request: the plant was not stored; send it again later")
	case models.CodeVersionUnsupported:
		return models.NewError(code, "this version of HTTP is not supported here; send the request as HTTP/1.1")
	default:
		return errNotHTTP
	}
}

// slowHeader returns the Error for a header that was not complete within HeaderTimeout.
func (c Config) slowHeader() *models.Error {
	return models.Errorf(models.CodeRequestTimeout, "the header of the request was not complete after %v; send it faster", c.HeaderTimeout)
}

// overloaded returns the Error for a connection beyond MaxConnections.
func (c Config) overloaded() *models.Error {
	return models.Errorf(models.CodeUnavailable, "the server is overloaded: it has all of its %d connections in use "+
		"and has not read the request: the plant was not stored; send it again later", c.MaxConnections)
}

// lateBody returns the error of reading a body that was not complete in time.
func (s *Server) lateBody() error {
	if s.bodyTime.Err() != nil {
		return Refusal(models.CodeUnavailable)
	}
	return os.ErrDeadlineExceeded
}

// refuse counts and logs an error response, and returns its header (C1.3, C1.6, C3.19) and body.
func (s *Server) refuse(ctx context.Context, e *models.Error, to recipient, remote string) (header http.Header, body []byte) {
	s.counters.refused.Add(e.Code)
	level := slog.LevelInfo
	if e.Code == models.CodeInternal {
		level = slog.LevelError
	}
	id := models.RequestID([]string{to.id})
	s.config.Logger.LogAttrs(ctx, level, "refused",
		slog.String("request_id", id[0]),
		slog.String("remote", remote),
		slog.Int("error", int(e.Code)),
		slog.String("message", e.Message))
	body = e.Body()
	header = http.Header{
		"Content-Type":           {"application/json"},
		"Content-Length":         {strconv.Itoa(len(body))},
		"Date":                   {time.Now().UTC().Format(http.TimeFormat)},
		"X-Content-Type-Options": {"nosniff"},
		"X-Request-Id":           id,
	}
	if s.config.CORSHeader != nil {
		maps.Copy(header, s.config.CORSHeader(to.origin))
	}
	return header, body
}
