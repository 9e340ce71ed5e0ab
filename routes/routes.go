// Package routes holds the route table and the handler of the one operation. A
// request's way is route table, handler, store: three hops.
package routes

import (
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"

	"plantstore/internal/apidocs"
	"plantstore/middleware"
	"plantstore/models"
	"plantstore/storage"
)

// Options are what the routes need from outside.
type Options struct {
	Store        storage.Store
	Authored     bool // whether the store is told who creates a plant
	Verify       middleware.Verify
	Description  *apidocs.Description
	Page         *apidocs.Page // nil: there is none
	Logger       *slog.Logger
	MaxBodyBytes int64
	Origins      middleware.Origins // whose pages may use the service
	Observe      middleware.Observe // is told of each answer; nil: nobody is
}

// New returns the handler of the whole HTTP interface.
func New(options Options) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	router := gin.New()
	router.RedirectTrailingSlash = false // C3.17
	router.HandleMethodNotAllowed = true // C3.18, with Allow

	router.Use(
		middleware.RequestID(),
		middleware.NoSniff(),
		middleware.AccessLog(options.Logger),
		middleware.Measure(options.Observe), // after it: it reads what the line is made of
		middleware.Recovery(),
		middleware.CORS(options.Origins),
	)
	router.NoRoute(leadToDocs(options.Page), failWith(models.NewError(models.CodeNotFound,
		"there is nothing at this path; create a plant with POST /plants")))
	router.NoMethod(failWith(models.NewError(models.CodeMethodNotAllowed,
		"this path does not take this method; see the header Allow")))

	plants := newPlants(options)
	router.POST("/plants",
		middleware.Bearer(options.Verify),
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

// failWith returns a handler that answers with that Error.
func failWith(failure *models.Error) gin.HandlerFunc {
	return func(c *gin.Context) { middleware.Fail(c, failure) }
}
