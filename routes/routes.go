// Package routes contains the route table and the handler of POST /plants.
package routes

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"plantstore/internal/apidocs"
	"plantstore/middleware"
	"plantstore/models"
)

// Options are the dependencies and settings of the routes.
type Options struct {
	Store        Store
	Verify       middleware.Verify
	Description  *apidocs.Description
	Page         *apidocs.Page // nil: no documentation page
	Logger       *slog.Logger
	MaxBodyBytes int64
	Origins      middleware.Origins // allowed by CORS
	Observe      middleware.Observe // called for each response, unless nil
	RateLimit    middleware.Limiter // of token subjects; nil: none
	NoToken      func()             // called for each create without a bearer token, unless nil
}

// A Store creates plants, as Create of [storage.Store] does. After Create has returned, the tag of
// the plant may change.
type Store interface {
	Create(ctx context.Context, id int64, plant models.Plant) error
}

// New returns the handler of all routes.
func New(options Options) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash = false // C3.17
	router.HandleMethodNotAllowed = true // C3.18, with Allow

	router.Use(
		middleware.Headers(),
		middleware.AccessLog(options.Logger, options.Observe),
		middleware.Recovery(),
		middleware.CORS(options.Origins),
	)
	router.NoRoute(redirectToDocs(options.Page), middleware.NotFound)
	router.NoMethod(middleware.MethodNotAllowed)

	plants := newPlants(options)
	router.POST("/plants",
		middleware.Bearer(options.Verify, options.NoToken),
		middleware.RateLimit(options.RateLimit),
		middleware.JSONOnly(),
		middleware.BodyLimit(options.MaxBodyBytes),
		plants.create,
	)
	for path, document := range documents(options.Description, options.Page) {
		router.GET(path, gin.WrapH(document))
		router.HEAD(path, gin.WrapH(document))
	}
	return router
}
