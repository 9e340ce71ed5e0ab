package operate

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
	"plantstore/storage"
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

// A wireError is an error as the socket transfers it: at the client, it matches what it did at the server.
type wireError struct {
	Sent      models.Error  `json:",embed"`
	Kind      string        `json:"kind,omitzero"`       // see kinds
	Stored    *models.Plant `json:"stored,omitzero"`     // of a taken id: the plant that has it, unless it is identical
	CorruptID *int64        `json:"corrupt_id,omitzero"` // of a [storage.CorruptError]
}

// Error returns the message.
func (f *wireError) Error() string { return f.Sent.Message }

// Unwrap returns the Error, and the error of its kind, if it has one.
func (f *wireError) Unwrap() []error {
	all := []error{&f.Sent}
	for _, k := range kinds() {
		if k.name == f.Kind {
			all = append(all, k.err)
		}
	}
	return all
}

// A kind is an error that commands match.
type kind struct {
	name string
	code models.Code
	err  error
}

// kinds returns all kinds. The first match applies.
func kinds() []kind {
	return []kind{
		{"unknown", models.CodeInternal, storage.ErrUnknown},
		{"corrupt", models.CodeInternal, storage.ErrCorrupt},
		{"not_found", models.CodeNotFound, storage.ErrNotFound},
		{"no_space", models.CodeInsufficientSpace, storage.ErrNoSpace},
		{"unavailable", models.CodeUnavailable, storage.ErrUnavailable},
	}
}

// errShutdown is the cause of an error that the context of a request has caused, unless the client
// has gone.
var errShutdown = errors.New("the server shuts down")

// encodeError encodes an error of the store.
func encodeError(ctx context.Context, err error) *wireError {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		outcome := storage.ErrUnavailable
		if errors.Is(err, storage.ErrUnknown) {
			outcome = storage.ErrUnknown
		}
		err = fmt.Errorf("%w: %w", outcome, errShutdown)
	}
	f := &wireError{Sent: *models.NewError(models.CodeInternal, err.Error())}
	if exists, ok := errors.AsType[*storage.ExistsError](err); ok {
		f.Sent.Code = models.CodeConflict
		if !exists.Identical {
			f.Stored = &exists.Stored
		}
		return f
	}
	if own, ok := errors.AsType[*models.Error](err); ok {
		f.Sent = *own
	}
	f.Sent.Message = strings.ToValidUTF8(f.Sent.Message, "")
	if i := slices.IndexFunc(kinds(), func(k kind) bool { return errors.Is(err, k.err) }); i >= 0 {
		f.Kind, f.Sent.Code = kinds()[i].name, kinds()[i].code
	}
	if corrupt, ok := errors.AsType[*storage.CorruptError](err); ok {
		f.CorruptID = &corrupt.ID
	}
	return f
}

// err returns what the store has returned at the server: nil for a line that is not a failure. An
// [storage.ExistsError] of an identical plant lacks Stored.
func (f *wireError) err() error {
	switch {
	case f.Sent.Code == 0:
		return nil
	case f.Sent.Code == models.CodeConflict && f.Stored != nil:
		return &storage.ExistsError{Stored: *f.Stored}
	case f.Sent.Code == models.CodeConflict:
		return &storage.ExistsError{Identical: true}
	case f.CorruptID != nil:
		return &storage.CorruptError{ID: *f.CorruptID, Err: f}
	}
	return f
}
