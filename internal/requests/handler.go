package requests

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"time"
)

// An entry is a request as it was received, with tokens. It does not change after [Recorder.end].
type entry struct {
	Request // without the parts that are in head and body

	head   string // the request line and the header fields
	body   []byte
	create bool // it is a POST /plants
}

// entryKey is the key of the *entry in a context.
type entryKey struct{}

// entryOf returns the entry of the request with that context, nil if there is none.
func entryOf(ctx context.Context) *entry {
	e, _ := ctx.Value(entryKey{}).(*entry)
	return e
}

// Handler returns next, and keeps its requests, but not those of the page with that path and its
// files. received returns the header of the request with that context.
func (r *Recorder) Handler(next http.Handler, page string, received func(context.Context) string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if strings.HasPrefix(request.URL.Path+"/", page+"/") || !r.begin() {
			next.ServeHTTP(w, request)
			return
		}
		ctx := request.Context()
		e := &entry{head: received(ctx), Request: Request{Time: time.Now(), Remote: request.RemoteAddr}}
		if len(e.head) > maxHeader {
			e.head = e.head[:maxHeader] + "…"
		}
		in := request.WithContext(context.WithValue(ctx, entryKey{}, e))
		if e.BodyUnread = request.Body != http.NoBody; e.BodyUnread {
			in.Body = body{request.Body, e}
		}
		defer func() { // also after a panic
			e.DurationMS = float64(time.Since(e.Time).Microseconds()) / 1000
			r.end(e)
		}()
		next.ServeHTTP(w, in)
	})
}

// A body copies the beginning of a body while it is read.
type body struct {
	io.ReadCloser

	entry *entry
}

// Read implements [io.Reader].
func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	e := b.entry
	e.BodyUnread, e.BodyBytes = false, e.BodyBytes+int64(n)
	e.body = append(e.body, p[:min(n, maxBody-len(e.body))]...)
	return n, err
}

// Logger returns a logger for the lines of requests, from which it takes their outcomes.
func (*Recorder) Logger(next *slog.Logger) *slog.Logger { return slog.New(outcomes{next.Handler()}) }

type outcomes struct{ slog.Handler }

// Enabled implements [slog.Handler]. It is true for all lines with an outcome.
func (o outcomes) Enabled(ctx context.Context, level slog.Level) bool {
	return o.Handler.Enabled(ctx, level) || level >= slog.LevelInfo && entryOf(ctx) != nil
}

// Handle implements [slog.Handler].
func (o outcomes) Handle(ctx context.Context, record slog.Record) error {
	if e := entryOf(ctx); e != nil {
		record.Attrs(e.note)
	}
	if !o.Handler.Enabled(ctx, record.Level) {
		return nil
	}
	return o.Handler.Handle(ctx, record)
}

// note takes an attribute of the line of a request.
func (e *entry) note(attr slog.Attr) bool {
	switch value := attr.Value; attr.Key {
	case "method":
		e.create = value.String() == http.MethodPost
	case "path": // after the method
		e.create = e.create && value.String() == "/plants"
	case "status":
		e.Status = int(value.Int64())
	case "error":
		e.Error, e.Status = int(value.Int64()), http.StatusBadRequest
	case "message":
		if e.Message = value.String(); len(e.Message) > maxMessage {
			e.Message = e.Message[:maxMessage] + "…"
		}
	case "subject":
		e.Subject = value.String()
	case "request_id":
		e.RequestID = value.String()
	case "plant_id":
		e.PlantID = value.String()
	}
	return true
}
