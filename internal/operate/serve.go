package operate

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"plantstore/internal/files"
)

const (
	// socketSuffix follows the name of the database in the name of its socket.
	socketSuffix = ".sock"
	socketPerm   = 0o600
	// headerTimeout limits the time for a header, and between the requests of a connection.
	headerTimeout = 5 * time.Second
	// maxHeader limits a header, in bytes.
	maxHeader = 16 << 10
	// shutdownTimeout is the time in which requests in progress must end at Close. Only a client
	// that does not read its response needs it.
	shutdownTimeout = time.Second
	// responseTimeout limits the time for a response over TCP: a profile takes long.
	responseTimeout = 2 * time.Minute
)

// SocketPath returns the path of the socket of a database: next to the file itself, if the
// path of the database is a link.
func SocketPath(database string) string {
	if resolved, err := filepath.EvalSymlinks(database); err == nil {
		database = resolved
	}
	return database + socketSuffix
}

// Listen creates the socket of a database. It replaces a socket that a killed server has left.
func Listen(ctx context.Context, database string) (net.Listener, error) {
	return files.Listen(ctx, SocketPath(database), socketPerm)
}

// A Server serves a listener.
type Server struct {
	http    http.Server
	cancel  context.CancelFunc // of requests in progress
	serving sync.WaitGroup
}

// Serve serves handler on listener until Close. It calls failed if the listener fails. The log of net/http goes
// to logger.
func Serve(listener net.Listener, handler http.Handler, logger *slog.Logger, failed func(error)) *Server {
	ctx, cancel := context.WithCancel(context.Background())
	s := &Server{cancel: cancel, http: http.Server{
		Handler:                      handler,
		BaseContext:                  func(net.Listener) context.Context { return ctx },
		DisableGeneralOptionsHandler: true, // it does not check Host
		ReadHeaderTimeout:            headerTimeout,
		IdleTimeout:                  headerTimeout,
		MaxHeaderBytes:               maxHeader,
		ErrorLog:                     slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}}
	if listener.Addr().Network() != "unix" { // commands send and receive all plants
		s.http.ReadTimeout, s.http.WriteTimeout = headerTimeout, responseTimeout
	}
	s.serving.Go(func() {
		if err := s.http.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	})
	return s
}

// Close ends requests in progress, which fail, and closes the listener.
func (s *Server) Close() error {
	s.cancel()
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil { // also if the listener has failed
		err = s.http.Close()
	}
	s.serving.Wait()
	return err
}
