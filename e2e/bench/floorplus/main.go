// Floorplus is this project's own server, put together as plantstore serve does
// it, over a store that does nothing.
package main

import (
	"context"
	"iter"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"plantstore/internal/apidocs"
	"plantstore/internal/auth"
	"plantstore/internal/backlog"
	"plantstore/internal/jsonlog"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/routes"
	"plantstore/storage"
)

func main() {
	debug.SetGCPercent(400) // as serve does
	log := backlog.New(os.Stderr, nil)
	logger := slog.New(jsonlog.NewHandler(log, nil))
	if err := run(logger); err != nil {
		logger.Error("serve", "error", err)
		_ = log.Close()
		os.Exit(1)
	}
}

func run(logger *slog.Logger) error {
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", os.Getenv("ADDR"))
	if err != nil {
		return err
	}
	description, err := apidocs.New("http://" + listener.Addr().String())
	if err != nil {
		return err
	}
	verifier := auth.NewVerifier(auth.Options{Keys: []auth.Key{auth.Secret(os.Getenv("JWT_SECRET")).Key()}, Leeway: 5 * time.Second})
	return server.New(server.Config{
		Handler: routes.New(routes.Options{
			Store: nothing{},
			Verify: func(token string) (string, error) {
				claims, err := verifier.Verify(token)
				if err != nil {
					return "", err
				}
				return claims.Subject, nil
			},
			Description:  description,
			Logger:       logger,
			MaxBodyBytes: 1 << 20,
		}),
		Logger:          logger,
		HeaderTimeout:   5 * time.Second,
		RequestTimeout:  30 * time.Second,
		IdleTimeout:     2 * time.Minute,
		ShutdownTimeout: 10 * time.Second,
	}).Serve(context.Background(), listener)
}

// A nothing is a [storage.Store] that keeps no plant and claims to keep all.
type nothing struct{}

// Create does nothing.
func (nothing) Create(context.Context, int64, models.Plant) error { return nil }

// CreateAll does nothing.
func (nothing) CreateAll(_ context.Context, records []storage.Record) []error {
	return make([]error, len(records))
}

// Get finds nothing.
func (nothing) Get(context.Context, int64) (models.Plant, error) {
	return models.Plant{}, storage.ErrNotFound
}

// List yields nothing.
func (nothing) List(context.Context, int64) iter.Seq2[storage.Record, error] {
	return func(func(storage.Record, error) bool) {}
}

// Ready returns nil.
func (nothing) Ready() error { return nil }

// Stopped returns nil: nothing stops.
func (nothing) Stopped() <-chan struct{} { return nil }

// Check finds nothing.
func (nothing) Check(context.Context, func(storage.Record) error) (storage.Report, error) {
	return storage.Report{}, nil
}

// Close does nothing.
func (nothing) Close() error { return nil }
