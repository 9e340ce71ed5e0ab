// Package routestest starts real plant stores for tests of clients:
//
//	server := routestest.NewServer(t)
//	err := create(server.URL, server.Token("alice"), 7, "Monstera") // the code under test
//	plant, err := server.Store.Get(t.Context(), 7)
//
// A server listens on a loopback port. It responds as plantstore serve --faults on does: also to what
// is not valid HTTP, and with the error that a request demands, as in "Prefer: code=503". The output of
// the test has a line for each request.
package routestest

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
	"time"

	"plantstore/internal/faults"
	"plantstore/internal/keys"
	"plantstore/internal/must"
	"plantstore/internal/server"
	"plantstore/middleware"
	"plantstore/middleware/auth"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// A Server is a plant store that runs until the end of a test.
type Server struct {
	// URL is the base URL, without a trailing slash.
	URL string
	// Store has the plants. They are in a file in a temporary directory.
	Store *storage.Store

	t      testing.TB
	signer *keys.Signer
}

// NewServer starts a server without plants. It ends the test if that fails.
func NewServer(t testing.TB) *Server {
	t.Helper()
	store := must.Get(bbolt.OpenFile(filepath.Join(t.TempDir(), "plants.db"), storage.Options{}))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	secret := keys.NewSecret()
	verifier := must.Get(auth.New(auth.Options{Secrets: []auth.Secret{secret}}))(t)
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	observe := middleware.AccessLog(logger)
	handler := must.Get(faults.New(routes.Options{Store: store, Verify: verifier.Verify, Observe: observe}, verifier.Accepts, ""))(t)
	listener := must.Get(new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0"))(t)
	running := server.New(server.Config{
		Handler: handler,
		Logger:  logger,
		Refused: func(e *models.Error, remote, requestID string) {
			observe(context.Background(), middleware.NewRefusal(e, remote, requestID))
		},
		RequestTimeout:  30 * time.Second,
		ShutdownTimeout: time.Second,
	})
	ctx, stop := context.WithCancel(context.Background()) // that of t ends before Cleanup
	ended := make(chan error, 1)
	go func() { ended <- running.Serve(ctx, listener) }()
	t.Cleanup(func() {
		stop()
		must.Do(t, <-ended)
	})
	return &Server{URL: "http://" + listener.Addr().String(), Store: store, t: t, signer: keys.HS256(secret)}
}

// Token returns an access token of a subject, which does not expire.
func (s *Server) Token(subject string) string {
	s.t.Helper()
	return must.Get(s.signer.Issue(keys.Grant{Subject: subject}, time.Now()))(s.t)
}
