// Package routes contains the route table and the handler of POST /plants.
package routes

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/gin-gonic/gin"

	"plantstore/middleware"
	"plantstore/models"
)

// Options are the dependencies and settings of the routes. Only Store and Verify are required.
type Options struct {
	Store  Store
	Verify middleware.Verify
	// BaseURL is the URL of the service in its description; empty: the Host of each request.
	BaseURL string
	// NoPage turns off the documentation page at /docs.
	NoPage bool
	// MaxBodyBytes is the maximum size of a body; 0 means 1 MiB.
	MaxBodyBytes int64
	// Origins are allowed by CORS.
	Origins middleware.Origins
	// Observe gets the outcome of each request, such as [middleware.AccessLog]; nil discards them.
	Observe middleware.Observe
	// RateLimit limits the creates of each token subject; nil: no limit.
	RateLimit middleware.Limiter
	// NoToken is called for each create without a bearer token, unless it is nil.
	NoToken func()
}

// A Store creates plants, as Create of [storage.Store] does.
type Store interface {
	Create(ctx context.Context, id int64, plant models.Plant) error
}

// New returns the handler of all routes. It fails without a Store or Verify, and if BaseURL is not
// UTF-8.
func New(options Options) (http.Handler, error) {
	if options.Store == nil || options.Verify == nil {
		return nil, errors.New("routes: Store and Verify are required")
	}
	docs, err := newDocs(options)
	if err != nil {
		return nil, err
	}
	options.MaxBodyBytes = cmp.Or(options.MaxBodyBytes, 1<<20)
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash = false // C3.17
	router.HandleMethodNotAllowed = true // C3.18, with Allow

	router.Use(
		middleware.Headers(),
		middleware.Outcomes(options.Observe),
		middleware.Recovery(),
		middleware.CORS(options.Origins),
	)
	router.NoRoute(docs.root, middleware.NotFound)
	router.NoMethod(middleware.MethodNotAllowed)

	plants := newPlants(options)
	router.POST(models.PlantsPath,
		middleware.Bearer(options.Verify, options.NoToken),
		middleware.RateLimit(options.RateLimit),
		middleware.JSONOnly(),
		middleware.BodyLimit(options.MaxBodyBytes),
		plants.create,
	)
	for path, document := range docs.documents() {
		router.GET(path, gin.WrapH(document))
		router.HEAD(path, gin.WrapH(document))
	}
	return router, nil
}
