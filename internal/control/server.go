package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
	"plantstore/storage"
)

const (
	// stallTime is the time for which a client may stop reading a snapshot. Meanwhile the store
	// cannot reuse pages.
	stallTime = 30 * time.Second
	// shutdownTimeout is the time in which requests in progress must end at Close. Only a client
	// that does not read its response needs it.
	shutdownTimeout = 2 * time.Second

	bufferSize = 64 << 10
)

// A Store is the part of [storage.Store] that a server offers.
type Store interface {
	CreateAll(ctx context.Context, records []storage.Record) []error
	DryRun(ctx context.Context, records []storage.Record) []error
	Get(ctx context.Context, id int64) (models.Plant, error)
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (int64, error)
	Snapshot(ctx context.Context, w io.Writer) error
}

// Info is the information that a server reports about itself.
type Info struct {
	BaseURL  string `json:"base_url,omitzero"`
	AdminURL string `json:"admin_url,omitzero"` // empty: there is no admin listener
	NoAdmin  string `json:"no_admin,omitzero"`  // reason why there is none
}

// Options are the settings of a [Server].
type Options struct {
	// Reset replaces all plants by the seed, and returns their number, or
	// [storage.ErrNotEphemeral].
	Reset func(ctx context.Context) (plants int64, err error)
	// Info is reported to commands.
	Info Info
	// Limits bound each plant.
	Limits models.Limits
	Logger *slog.Logger
}

// A Server offers a store on a socket.
type Server struct {
	store   Store
	options Options
	decoder *models.Decoder
	http    *http.Server
	cancel  context.CancelFunc // of requests in progress
	serving sync.WaitGroup
}

// Start serves store on listener until Close is called.
func Start(listener net.Listener, store Store, options Options) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{store: store, options: options, decoder: models.NewDecoder(options.Limits, strict()), cancel: cancel}
	s.http = &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: firstResponseTime,
		ErrorLog:          slog.NewLogLogger(options.Logger.Handler(), slog.LevelWarn),
	}
	s.serving.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			options.Logger.Error("control socket failed", "cause", err.Error(), "hint", "restart the server: commands cannot reach it")
		}
	})
	return s
}

// Close ends requests in progress, which fail, and removes the socket. Then the store may be
// closed.
func (s *Server) Close() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	s.serving.Wait()
	return err
}

func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathReady, respond(func(http.ResponseWriter, *http.Request) (any, error) { return s.options.Info, nil }))
	mux.HandleFunc("GET "+pathPlants, s.list)
	mux.HandleFunc("GET "+pathPlants+"/{id}", respond(s.get))
	mux.HandleFunc("POST "+pathPlants, respond(s.create))
	mux.HandleFunc("GET "+pathCount, respond(func(_ http.ResponseWriter, r *http.Request) (any, error) { return s.store.Count(r.Context()) }))
	mux.HandleFunc("GET "+pathSnapshot, s.snapshot)
	mux.HandleFunc("POST "+pathReset, respond(func(_ http.ResponseWriter, r *http.Request) (any, error) { return s.options.Reset(r.Context()) }))
	return mux
}

func (s *Server) get(_ http.ResponseWriter, r *http.Request) (any, error) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return nil, err
	}
	return s.store.Get(r.Context(), id)
}

// create is CreateAll or DryRun of the store.
func (s *Server) create(w http.ResponseWriter, r *http.Request) (any, error) {
	records, failures, err := s.readBatch(w, r)
	if err != nil {
		return nil, err
	}
	run := s.store.CreateAll
	if r.URL.Query().Has(paramDryRun) {
		run = s.store.DryRun
	}
	outcomes := run(r.Context(), records)
	for i, f := range failures {
		if f == nil { // it is in records
			failures[i], outcomes = failureOf(whenEnding(r.Context(), outcomes[0])), outcomes[1:]
		}
	}
	return failures, nil
}

// readBatch reads the plants of a request, at most batchBytes or one plant. It returns a failure
// instead of a record for each that POST /plants would refuse, and nil for the others.
func (s *Server) readBatch(w http.ResponseWriter, r *http.Request) (records []storage.Record, failures []*failure, err error) {
	most := max(batchBytes, s.options.Limits.BodyBytes+1) // with the line end
	decoder := jsontext.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	for {
		value, err := decoder.ReadValue()
		switch {
		case errors.Is(err, io.EOF):
			return records, failures, nil
		case errors.As(err, new(*http.MaxBytesError)):
			_, err = io.Copy(io.Discard, io.LimitReader(r.Body, maxExcess))
			return nil, nil, errors.Join(refused(models.TooLarge(s.options.Limits.BodyBytes)), err)
		case err != nil:
			return nil, nil, err
		}
		var plant models.NewPlant
		if err := s.decoder.Decode(value, &plant); err != nil {
			failures = append(failures, failureOf(refused(err)))
			continue
		}
		records, failures = append(records, storage.Record{ID: plant.ID.Value, Plant: plant.Plant()}), append(failures, nil)
	}
}

// refused returns the error for a plant that POST /plants would refuse with err.
func refused(err error) error {
	wrapped := fmt.Errorf("%w with error %w", storage.ErrRefused, err)
	if e, ok := errors.AsType[*models.Error](err); ok && e.Code == models.CodeContentTooLarge {
		return fmt.Errorf("%w, its MAX_BODY_BYTES", wrapped)
	}
	return wrapped
}

func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	stream(r.Context(), w, func(ctx context.Context, w io.Writer) error {
		from, err := strconv.ParseInt(r.URL.Query().Get(paramFrom), 10, 64)
		if err != nil {
			return err
		}
		encoder := jsontext.NewEncoder(w)
		for record, err := range s.store.List(ctx, from) {
			if err != nil {
				return err
			}
			if err := json.MarshalEncode(encoder, record); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	stream(r.Context(), w, func(ctx context.Context, out io.Writer) error {
		return s.store.Snapshot(ctx, &stallWriter{out, http.NewResponseController(w)})
	})
}

// respond returns a handler that sends the value of f, or its failure.
func respond(f func(http.ResponseWriter, *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		value, err := f(w, r)
		status := http.StatusOK
		if err != nil {
			status, value = http.StatusBadRequest, failureOf(whenEnding(r.Context(), err))
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.MarshalWrite(w, value) // best effort
	}
}

// stream sends the output of write, and its failure in the trailer.
func stream(ctx context.Context, w http.ResponseWriter, write func(context.Context, io.Writer) error) {
	w.Header().Set("Trailer", trailer)
	out := bufio.NewWriterSize(w, bufferSize)
	if err := whenEnding(ctx, errors.Join(write(ctx, out), out.Flush())); err != nil {
		text, _ := json.Marshal(failureOf(err), jsontext.EscapeForHTML(true)) // strings always encode
		w.Header().Set(trailer, string(text))
	}
}

// whenEnding returns err. If the context of the request caused err, it returns errEnded with the
// same outcome: either the server shuts down, or the client has disconnected and gets no response.
func whenEnding(ctx context.Context, err error) error {
	switch {
	case ctx.Err() == nil || !errors.Is(err, ctx.Err()):
		return err
	case errors.Is(err, storage.ErrUnknown):
		return fmt.Errorf("%w: %w", storage.ErrUnknown, errEnded)
	case errors.Is(err, storage.ErrUnrecorded):
		return fmt.Errorf("%w: %w", storage.ErrUnrecorded, errEnded)
	}
	return fmt.Errorf("%w: %w", storage.ErrUnavailable, errEnded)
}

// A stallWriter fails if the client stops reading for stallTime.
type stallWriter struct {
	w          io.Writer
	controller *http.ResponseController
}

func (s *stallWriter) Write(p []byte) (int, error) {
	// Buffered bytes are sent with one of the next writes.
	if err := s.controller.SetWriteDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}
