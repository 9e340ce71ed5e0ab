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
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/models"
	"plantstore/storage"
)

const (
	// stallTime is how long a client may take no byte of a copy of the store:
	// for so long the store keeps pages that it would like to use again.
	stallTime = 30 * time.Second
	// endTime is how long what is under way has to end. Nothing but a client
	// that takes no more of its answer needs any of it.
	endTime = 2 * time.Second

	bufferSize = 64 << 10
)

// A Store is what a server offers: a [storage.Store], whose methods it has.
type Store interface {
	CreateAll(ctx context.Context, records []storage.Record) []error
	DryRun(ctx context.Context, records []storage.Record) []error
	Get(ctx context.Context, id int64) (models.Plant, error)
	List(ctx context.Context, from int64) iter.Seq2[storage.Record, error]
	Count(ctx context.Context) (int64, error)
	Snapshot(ctx context.Context, w io.Writer) error
}

// A Server offers a store on a socket.
type Server struct {
	store  Store
	limit  int64 // of a plant in JSON, in bytes
	http   *http.Server
	cancel context.CancelFunc // of what is under way
	served chan struct{}      // closed when the listener is
}

// Start serves store on listener until Close is called. It accepts plants that
// have at most limit bytes as JSON, as bodies of POST /plants have.
func Start(listener net.Listener, store Store, limit int64, logger *slog.Logger) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{store: store, limit: limit, cancel: cancel, served: make(chan struct{})}
	s.http = &http.Server{
		Handler:           s.handler(),
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: answerTime,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	go func() {
		defer close(s.served)
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			logger.Error("control socket failed", "cause", err.Error(), "hint", "restart the server: commands cannot reach it")
		}
	}()
	return s
}

// Close ends what is under way and removes the socket: a command that has not got
// all of its answer fails. Then the store may be closed.
func (s *Server) Close() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), endTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = s.http.Close()
	}
	<-s.served
	return err
}

// handler returns the whole interface.
func (s *Server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+pathReady, s.alive)
	mux.HandleFunc("GET "+pathPlants, s.list)
	mux.HandleFunc("GET "+pathPlants+"/{id}", s.get)
	mux.HandleFunc("POST "+pathPlants, s.create)
	mux.HandleFunc("GET "+pathCount, s.count)
	mux.HandleFunc("GET "+pathSnapshot, s.snapshot)
	return mux
}

// alive tells a client that a server answers at the socket.
func (*Server) alive(w http.ResponseWriter, _ *http.Request) { answer(w, struct{}{}, nil) }

func (s *Server) get(w http.ResponseWriter, r *http.Request) {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		answer(w, nil, err)
		return
	}
	plant, err := s.store.Get(r.Context(), id)
	answer(w, plant, err)
}

func (s *Server) count(w http.ResponseWriter, r *http.Request) {
	plants, err := s.store.Count(r.Context())
	answer(w, plants, err)
}

// create is CreateAll or DryRun of the store.
func (s *Server) create(w http.ResponseWriter, r *http.Request) {
	batch, err := s.readBatch(w, r)
	if err != nil {
		answer(w, nil, err)
		return
	}
	run := s.store.CreateAll
	if r.URL.Query().Has(paramDryRun) {
		run = s.store.DryRun
	}
	for i, err := range run(r.Context(), batch.records) {
		batch.failures[batch.places[i]] = failureOf(whenEnding(r.Context(), err))
	}
	answer(w, batch.failures, nil)
}

// A batch is what came in a request for creates.
type batch struct {
	records  []storage.Record
	places   []int      // of the records among all that came
	failures []*failure // of all that came: those of the ones that are no records
}

// readBatch reads the plants of a request. It holds no more of it than the larger
// of a batch and one plant.
func (s *Server) readBatch(w http.ResponseWriter, r *http.Request) (*batch, error) {
	b := new(batch)
	most := max(batchBytes, s.limit+1) // with the line end
	decoder := jsontext.NewDecoder(http.MaxBytesReader(w, r.Body, most))
	for {
		value, err := decoder.ReadValue()
		switch {
		case errors.Is(err, io.EOF):
			return b, nil
		case errors.As(err, new(*http.MaxBytesError)):
			_, err = io.Copy(io.Discard, io.LimitReader(r.Body, maxExcess))
			return nil, errors.Join(s.tooLarge(), err)
		case err == nil:
			err = s.add(b, value)
		}
		if err != nil {
			return nil, err
		}
	}
}

// add adds a plant in JSON to the batch, or that it is too large.
func (s *Server) add(b *batch, value jsontext.Value) error {
	if int64(len(value)) > s.limit {
		b.failures = append(b.failures, failureOf(s.tooLarge()))
		return nil
	}
	var record storage.Record
	if err := json.Unmarshal(value, &record, strict()); err != nil {
		return err
	}
	b.records, b.places = append(b.records, record), append(b.places, len(b.failures))
	b.failures = append(b.failures, nil)
	return nil
}

// tooLarge returns the error for a plant beyond the limit.
func (s *Server) tooLarge() error {
	return fmt.Errorf("%w: it has more than %d bytes, the limit of its MAX_BODY_BYTES", storage.ErrTooLarge, s.limit)
}

// list sends records as JSON Lines.
func (s *Server) list(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseInt(r.URL.Query().Get(paramFrom), 10, 64)
	if err != nil {
		answer(w, nil, err)
		return
	}
	stream(r.Context(), w, func(ctx context.Context, w io.Writer) error {
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

// snapshot sends a copy of the store.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	stream(r.Context(), w, func(ctx context.Context, out io.Writer) error {
		return s.store.Snapshot(ctx, &stallWriter{out, http.NewResponseController(w)})
	})
}

// answer sends one value, or why there is none.
func answer(w http.ResponseWriter, value any, err error) {
	status := http.StatusOK
	if err != nil {
		status, value = http.StatusBadRequest, failureOf(err)
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, value) // the client has gone
}

// stream sends what write writes, and in the trailer why it has ended early.
func stream(ctx context.Context, w http.ResponseWriter, write func(context.Context, io.Writer) error) {
	w.Header().Set("Trailer", trailer)
	out := bufio.NewWriterSize(w, bufferSize)
	err := whenEnding(ctx, errors.Join(write(ctx, out), out.Flush()))
	if err != nil {
		text, _ := json.Marshal(failureOf(err), jsontext.EscapeForHTML(true)) // it has strings only
		w.Header().Set(trailer, string(text))
	}
}

// whenEnding returns err or, if the context of the request has caused it, that the
// server ends: a client that has gone hears nothing.
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

// A stallWriter fails when the client takes nothing for stallTime.
type stallWriter struct {
	w          io.Writer
	controller *http.ResponseController
}

// Write implements [io.Writer].
func (s *stallWriter) Write(p []byte) (int, error) {
	// What is buffered goes out with one of the next writes.
	if err := s.controller.SetWriteDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}
