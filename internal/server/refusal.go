package server

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"maps"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"plantstore/models"
)

// refusal returns the Error for a request that no handler has answered. A code
// that net/http is not known to use counts as CodeBadRequest.
func (c Config) refusal(code models.Code) *models.Error {
	switch code {
	case models.CodeRequestTimeout:
		return models.Errorf(code, "the header of the request was not complete after %v; send it faster", c.HeaderTimeout)
	case models.CodeExpectationFailed:
		return models.NewError(code, "Expect: nothing but 100-continue can be met; send the request without it")
	case models.CodeHeaderTooLarge:
		return models.Errorf(code, "the request line and the header fields are more than the limit of %d bytes or %d lines in all; "+
			"send fewer or shorter ones", c.MaxHeaderBytes, maxHeaderLines)
	case models.CodeInternal:
		return models.NewError(code, "the server could not finish the request, and it is not known what became of it; "+
			"send it again: an id that was created is not created twice")
	case models.CodeNotImplemented:
		return models.NewError(code, "Transfer-Encoding: nothing but chunked is supported, and only once")
	case models.CodeUnavailable:
		return models.NewError(code, "the server is shutting down and has not looked at the request: the plant was not stored; send it again later")
	case models.CodeVersionUnsupported:
		return models.NewError(code, "this version of HTTP is not supported here; send the request as HTTP/1.1")
	default:
		return models.NewError(models.CodeBadRequest, "the request is not valid HTTP/1.1: check the request line, "+
			"that there is one Host, that every header line is a name, a colon and a value, "+
			"and that Content-Length is one number")
	}
}

// crowded returns the Error for a connection beyond MaxConnections.
func (c Config) crowded() *models.Error {
	return models.Errorf(models.CodeUnavailable, "the server is overloaded: it has all of its %d connections in use "+
		"and has not looked at the request: the plant was not stored; send it again later", c.MaxConnections)
}

// cutShort returns the Error for a header after which the client closed its half
// of the connection too early.
func cutShort() *models.Error {
	return models.NewError(models.CodeBadRequest,
		"the request ends before its header does; send it whole, with an empty line after the header")
}

// folded returns the Error for a header with a folded line.
func folded() *models.Error {
	return models.NewError(models.CodeBadRequest,
		"a header line begins with a space or a tab: lines are not continued (RFC 9112, 5.2); send each header field in one line")
}

// say writes e as the last answer on the connection, and logs it.
func (c *conn) say(e *models.Error, to requester) error {
	to.id = cmp.Or(to.id, rand.Text())
	c.server.log(context.Background(), e, to, c.RemoteAddr().String())
	_, err := c.Conn.Write(c.server.config.encode(e, to))
	return err
}

// log counts a refusal and logs it.
func (s *Server) log(ctx context.Context, e *models.Error, to requester, remote string) {
	s.counted.refused.Add(e.Code)
	level := slog.LevelInfo
	if e.Code == models.CodeInternal {
		level = slog.LevelError
	}
	s.config.Logger.LogAttrs(ctx, level, "refused",
		slog.String("request_id", to.id),
		slog.String("remote", remote),
		slog.Int("error", int(e.Code)),
		slog.String("message", e.Message))
}

// encode returns e as an answer in HTTP/1.1, for HEAD without its body.
func (c Config) encode(e *models.Error, to requester) []byte {
	body, _ := json.Marshal(e) // a number and a string of ours always encode
	var answer bytes.Buffer
	answer.WriteString("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n")
	_ = c.header(len(body), to).Write(&answer) // a buffer takes everything
	answer.WriteString("\r\n")
	if !to.bodiless {
		answer.Write(body)
	}
	return answer.Bytes()
}

// header returns the header of an answer that is an Error (C1.3, C1.6, C3.19) of
// so many bytes.
func (c Config) header(length int, to requester) http.Header {
	header := http.Header{
		"Content-Type":           {"application/json"},
		"Content-Length":         {strconv.Itoa(length)},
		"Date":                   {time.Now().UTC().Format(http.TimeFormat)},
		"X-Content-Type-Options": {"nosniff"},
		"X-Request-Id":           {to.id},
	}
	if c.CORSHeader != nil {
		maps.Copy(header, c.CORSHeader(to.origin))
	}
	return header
}
