package routes

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"plantstore/internal/apidocs"
)

// documents returns what can be read of the service, by path.
func documents(d *apidocs.Description, page *apidocs.Page) map[string]http.Handler {
	all := map[string]http.Handler{
		"/openapi.yaml": d.YAML,
		"/openapi.json": d.JSON,
	}
	if page != nil {
		all["/docs"], all[page.ScriptPath] = page, page.Script
	}
	return all
}

// leadToDocs leads a browser that asks for the root to the page, if there is one.
// The root is no route, so that for anybody else it is as any path (C3.17). The
// way is relative: a proxy may have taken a prefix away.
func leadToDocs(page *apidocs.Page) gin.HandlerFunc {
	return func(c *gin.Context) {
		r := c.Request
		reads := r.Method == http.MethodGet || r.Method == http.MethodHead
		if page == nil || r.URL.Path != "/" || !reads || !apidocs.Accepts(r.Header.Values("Accept"), "text/html") {
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
