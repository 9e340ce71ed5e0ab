package routes

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"plantstore/internal/apidocs"
	"plantstore/middleware"
	"plantstore/models"
)

func documents(d *apidocs.Description, page *apidocs.Page) map[string]http.Handler {
	all := map[string]http.Handler{
		"/openapi.yaml": d.YAML,
		"/openapi.json": d.JSON,
	}
	if page != nil {
		all[apidocs.PagePath], all[page.ScriptPath] = page, page.Script
	}
	return all
}

// redirectToDocs redirects browsers from the root to the documentation page. If that is
// disabled, the error says so. The root is not a route: for other clients it is an unknown path (C3.17). The
// location is relative, since a proxy may have removed a prefix.
func redirectToDocs(page *apidocs.Page) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := c.Request
		if r.URL.Path != "/" {
			return
		}
		if page == nil {
			middleware.Fail(c, models.NewError(models.CodeNotFound, "this is a plant store: create a plant with POST /plants; "+
				"/openapi.yaml describes the service, and its documentation page is off (DOCS)"))
			return
		}
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if !reads || !apidocs.Accepts(r.Header.Values("Accept"), "text/html") {
			return
		}
		header := c.Writer.Header()
		header.Set("Location", "docs")
		header.Set("Cache-Control", "no-cache")
		header.Add("Vary", "Accept")
		c.AbortWithStatus(http.StatusFound)
		c.Writer.WriteHeaderNow()
	}
}
