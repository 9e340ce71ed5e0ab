package reference

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"
	"time"

	"github.com/gin-gonic/gin"

	"plantstore/internal/admin"
	"plantstore/internal/apidocs"
	"plantstore/internal/auth"
	"plantstore/internal/logging"
	"plantstore/internal/server"
	"plantstore/models"
	"plantstore/routes"
)

func newVerifier() *auth.Verifier {
	return auth.NewVerifier(auth.Options{Keys: []auth.Key{auth.Secret(os.Getenv("JWT_SECRET")).Key()}})
}

// bare verifies, decodes and validates as plantstore does, in one Gin route without a store, a log
// and other middleware than gin.Recovery.
func bare() error {
	debug.SetGCPercent(200) // as plantstore serve
	verifier, decoder := newVerifier(), models.NewDecoder(1<<20)
	return serve(func(c *gin.Context, token string) error {
		if _, err := verifier.Verify(token); err != nil {
			return err
		}
		body, err := c.GetRawData()
		if err != nil {
			return err
		}
		var sent models.NewPlant
		if err := decoder.Decode(body, &sent); err != nil {
			return err
		}
		response, err := sent.Plant().AppendJSON(nil)
		if err != nil {
			return err
		}
		c.Data(http.StatusOK, "application/json", response)
		return nil
	})
}

// floorPlus is plantstore's server, composed as by plantstore serve, with a store that keeps
// nothing. It logs errors only, because bare has no log.
func floorPlus() error {
	debug.SetGCPercent(200) // as plantstore serve
	listener, err := new(net.ListenConfig).Listen(context.Background(), "tcp", os.Getenv("ADDR"))
	if err != nil {
		return err
	}
	description, err := apidocs.New("http://" + listener.Addr().String())
	if err != nil {
		return err
	}
	logger, _ := logging.New(os.Stderr, logging.JSON, slog.LevelError)
	return server.New(server.Config{
		Handler: routes.New(routes.Options{
			Store:        discard{},
			Verify:       newVerifier().Verify,
			Description:  description,
			Logger:       logger,
			MaxBodyBytes: 1 << 20,
			Observe:      admin.NewObserver().Request,
		}),
		Logger:          logger,
		Refused:         func(models.Code) {},
		RequestTimeout:  30 * time.Second,
		ShutdownTimeout: 10 * time.Second,
	}).Serve(context.Background(), listener)
}

// A discard is a [routes.Store] that keeps nothing.
type discard struct{}

// Create returns nil.
func (discard) Create(context.Context, int64, models.Plant) error { return nil }
