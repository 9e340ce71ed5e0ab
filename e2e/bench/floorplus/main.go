// Floorplus is this project's server, composed as by plantstore serve, over a store that
// keeps no plants.
package main

import (
	"context"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"time"

	"plantstore/internal/admin"
	"plantstore/internal/apidocs"
	"plantstore/internal/auth"
	"plantstore/internal/logging"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/routes"
)

func main() {
	debug.SetGCPercent(200) // as in serve
	var level slog.Level
	_ = level.UnmarshalText([]byte(os.Getenv("LOG_LEVEL"))) // info, unless it is one
	logger, log := logging.New(os.Stderr, logging.JSON, level)
	if err := run(logger); err != nil {
		logger.Error("serve", "error", err)
		log.Flush()
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
	verifier := auth.NewVerifier(auth.Options{Keys: []auth.Key{auth.Secret(os.Getenv("JWT_SECRET")).Key()}})
	return server.New(server.Config{
		Handler: routes.New(routes.Options{
			Store:       discard{},
			Verify:      verifier.Verify,
			Description: description,
			Logger:      logger,
			Limits:      models.Limits{BodyBytes: 1 << 20},
			Observe:     admin.NewObserver().Request,
		}),
		Logger:          logger,
		Refused:         func(models.Code) {},
		RequestTimeout:  30 * time.Second,
		ShutdownTimeout: 10 * time.Second,
	}).Serve(context.Background(), listener)
}

// A discard is a [routes.Store] that accepts plants and keeps none.
type discard struct{}

// Create returns nil.
func (discard) Create(context.Context, int64, models.Plant) error { return nil }
