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

// A response is lines of JSON, perhaps only one, or bytes in another form.
type response struct {
	http.ResponseWriter

	lines   *bufio.Writer // nil: no JSON
	encoder *jsontext.Encoder
	begun   bool // bytes were written
}

// newResponse returns a response with the header fields that all have.
func newResponse(w http.ResponseWriter, r *http.Request) *response {
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

// reply sends the only value.
func (w *response) reply(value any) error {
	w.begin("application/json")
	return w.send(value)
}

// sendLines makes JSON Lines the response. Lines follow.
func (w *response) sendLines() { w.begin("application/jsonl") }

func (w *response) begin(mediaType string) {
	w.Header().Set("Content-Type", mediaType)
	w.lines = bufio.NewWriterSize(w, bufferSize)
	w.encoder = jsontext.NewEncoder(w.lines)
}

// send sends a value and a newline.
func (w *response) send(value any) error { return json.MarshalEncode(w.encoder, value) }

// end completes the response. An error follows the lines, if there are any, else it is the response.
func (w *response) end(ctx context.Context, err error) {
	switch {
	case err == nil:
	case w.lines != nil && (w.begun || w.lines.Buffered() > 0):
		_ = w.send(encodeError(ctx, err)) // best effort
	case w.begun:
		panic(http.ErrAbortHandler) // what was sent must not be taken for complete
	default:
		w.Header().Set("Connection", "close") // no refused client holds one
		w.begin("application/json")
		w.WriteHeader(http.StatusBadRequest)
		_ = w.send(encodeError(ctx, err)) // best effort
	}
	if w.lines != nil {
		_ = w.lines.Flush() // best effort
	}
}
