package operate

import (
	"bufio"
	"context"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
)

// bufferSize is the size of the buffer of a response in bytes.
const bufferSize = 32 << 10

// A response is a JSON value, JSON Lines, or bytes in another form.
type response struct {
	http.ResponseWriter

	value   any           // the only one
	lines   *bufio.Writer // nil: there are no lines
	encoder *jsontext.Encoder
	begun   bool // bytes were written
}

// begin returns a response with the header fields that all have.
func begin(w http.ResponseWriter, r *http.Request) *response {
	header := w.Header()
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Cache-Control", "no-store")
	header["X-Request-Id"] = models.RequestID(r.Header["X-Request-Id"])
	return &response{ResponseWriter: w}
}

// Unwrap is for [http.ResponseController].
func (w *response) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *response) Write(p []byte) (int, error) {
	w.begun = true
	return w.ResponseWriter.Write(p)
}

// reply makes value the response.
func (w *response) reply(value any) error {
	w.value = value
	return nil
}

// sendLines makes JSON Lines the response. Lines follow.
func (w *response) sendLines() {
	w.Header().Set("Content-Type", "application/jsonl")
	w.lines = bufio.NewWriterSize(w, bufferSize)
	w.encoder = jsontext.NewEncoder(w.lines)
}

func (w *response) send(line any) error { return json.MarshalEncode(w.encoder, line) }

// end completes the response. An error follows the lines, if there are any, else it is the response.
func (w *response) end(ctx context.Context, err error) {
	status := http.StatusOK
	switch {
	case err == nil:
	case w.lines != nil && (w.begun || w.lines.Buffered() > 0):
		_ = w.send(failureOf(ctx, err)) // best effort
	case w.begun:
		panic(http.ErrAbortHandler) // what was sent must not be taken for complete
	default:
		status, w.value, w.lines = http.StatusBadRequest, failureOf(ctx, err), nil
		w.Header().Set("Connection", "close") // no refused client holds one
	}
	switch {
	case w.lines != nil:
		_ = w.lines.Flush() // best effort
	case w.value != nil:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.MarshalEncode(jsontext.NewEncoder(w), w.value) // best effort; it ends with a newline
	}
}
