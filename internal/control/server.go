package control

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"plantstore/internal/plantio"
	"plantstore/internal/requests"
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
	// maxRequest bounds the body of a create: more than a batch of an import can have.
	maxRequest = 128 << 20

	bufferSize = 64 << 10
)

// Options are the settings of a [Server].
type Options struct {
	// Info is reported to commands.
	Info Info
	// Problem returns why the server should not get requests, "" if it should.
	Problem func() string
	// Reset puts the server back to its seed, and returns the number of plants.
	Reset func(ctx context.Context) (plants int64, err error)
	// Requests keeps the requests of clients; nil: the server is not ephemeral.
	Requests *requests.Recorder
	// MaxBodyBytes bounds each plant, in JSON.
	MaxBodyBytes int64
	Logger       *slog.Logger
}

// A Server offers a store on a socket.
type Server struct {
	store   *storage.Store
	options Options
	http    *http.Server
	cancel  context.CancelFunc // of requests in progress
	serving sync.WaitGroup
}

// Start serves store on listener until Close is called.
func Start(listener net.Listener, store *storage.Store, options Options) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{store: store, options: options, cancel: cancel}
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
	mux.HandleFunc("GET /info", respond(func(_ *http.Request, send sender) error { return send(s.options.Info) }))
	mux.HandleFunc("GET /ready", respond(s.ready))
	mux.HandleFunc("POST /reset", respond(s.reset))
	mux.HandleFunc("GET /requests", respond(s.requests))
	mux.HandleFunc("GET /plants", respond(s.list))
	mux.HandleFunc("GET /plants/{id}", respond(s.get))
	mux.HandleFunc("POST /plants", respond(s.create))
	mux.HandleFunc("GET /count", respond(s.count))
	mux.HandleFunc("GET /snapshot", s.snapshot)
	return mux
}

// A sender sends a line.
type sender func(value any) error

// respond returns a handler that sends the lines of f, and its error as the last one.
func respond(f func(*http.Request, sender) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out := bufio.NewWriterSize(w, bufferSize)
		encoder := jsontext.NewEncoder(out)
		send := func(value any) error { return json.MarshalEncode(encoder, value) }
		if err := f(r, send); err != nil {
			_ = send(failureOf(r.Context(), err)) // best effort
		}
		_ = out.Flush() // best effort
	}
}

func (s *Server) ready(_ *http.Request, send sender) error {
	if problem := s.options.Problem(); problem != "" {
		return models.NewError(models.CodeUnavailable, "not ready: "+problem)
	}
	return send(struct{}{})
}

func (s *Server) reset(r *http.Request, send sender) error {
	plants, err := s.options.Reset(r.Context())
	if err != nil {
		return err
	}
	return send(number{plants})
}

func (s *Server) requests(r *http.Request, send sender) error {
	all, failure := s.options.Requests.Query(r)
	if failure != nil {
		return failure
	}
	return send(Kept{s.options.Info.BaseURL, all})
}

func (s *Server) count(r *http.Request, send sender) error {
	plants, err := s.store.Count(r.Context())
	if err != nil {
		return err
	}
	return send(number{plants})
}

func (s *Server) get(r *http.Request, send sender) error {
	id, err := strconv.ParseInt(r.PathValue("id"), 10, 64)
	if err != nil {
		return err
	}
	plant, err := s.store.Get(r.Context(), id)
	if err != nil {
		return err
	}
	return send(storage.Record{ID: id, Plant: plant})
}

func (s *Server) list(r *http.Request, send sender) error {
	from, err := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64)
	if err != nil {
		return err
	}
	list := s.store.List
	if r.URL.Query().Get("descending") == "true" {
		list = s.store.ListDescending
	}
	for record, err := range list(r.Context(), from) {
		if err != nil {
			return err
		}
		if err := send(record); err != nil {
			return err
		}
	}
	return nil
}

// create creates the plants of the body, but for those that POST /plants would refuse, and sends
// a line for each.
func (s *Server) create(r *http.Request, send sender) error {
	records, refused, err := s.readPlants(r)
	if err != nil {
		return err
	}
	outcomes := s.store.CreateAll(r.Context(), records)
	for _, err := range refused {
		if err == nil {
			err, outcomes = outcomes[0], outcomes[1:]
		}
		var line any = struct{}{}
		if err != nil {
			line = failureOf(r.Context(), err)
		}
		if err := send(line); err != nil {
			return err
		}
	}
	return nil
}

// readPlants reads the plants of a request. For each, refused has the reason why it is not in
// records, or nil.
func (s *Server) readPlants(r *http.Request) (records []storage.Record, refused []error, err error) {
	in := plantio.NewReader(http.MaxBytesReader(nil, r.Body, maxRequest), plantio.JSONLines, s.options.MaxBodyBytes)
	for {
		record, _, err := in.Read()
		var bad *plantio.LineError
		switch {
		case errors.Is(err, io.EOF):
			return records, refused, nil
		case errors.As(err, &bad):
			refused = append(refused, fmt.Errorf("%w: %s", plantio.ErrRefused, bad.Reason))
		case err != nil:
			return nil, nil, err
		default:
			records, refused = append(records, record), append(refused, nil)
		}
	}
}

// snapshot sends a copy of the store, and its error in the trailer.
func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	if err := s.store.Snapshot(r.Context(), &stallWriter{w, http.NewResponseController(w)}); err != nil {
		level := slog.LevelError
		if r.Context().Err() != nil { // the client has gone, for example because its disk is full
			level = slog.LevelWarn
		}
		s.options.Logger.Log(r.Context(), level, "snapshot failed", "cause", err.Error())
		text, err := json.Marshal(failureOf(r.Context(), err))
		if err != nil {
			panic(http.ErrAbortHandler) // the copy must not be taken for complete
		}
		w.Header().Set(http.TrailerPrefix+failureTrailer, string(text))
	}
}

// A stallWriter fails if the client stops reading for stallTime.
type stallWriter struct {
	w          io.Writer
	controller *http.ResponseController
}

func (s *stallWriter) Write(p []byte) (int, error) {
	if err := s.controller.SetWriteDeadline(time.Now().Add(stallTime)); err != nil {
		return 0, err
	}
	return s.w.Write(p)
}
