package routes

import (
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"plantstore/internal/apidocs"
	"plantstore/middleware"
	"plantstore/models"
)

// docs are the documents about the service.
type docs struct {
	description *apidocs.Description
	page        *apidocs.Page // nil: none
}

func newDocs(options Options) (d docs, err error) {
	if d.description, err = apidocs.New(options.BaseURL); err == nil && !options.NoPage {
		d.page = apidocs.NewPage()
	}
	return d, err
}

// documents returns the documents by path.
func (d docs) documents() map[string]http.Handler {
	all := map[string]http.Handler{
		"/openapi.yaml": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.description.For(r).YAML.ServeHTTP(w, r) }),
		"/openapi.json": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { d.description.For(r).JSON.ServeHTTP(w, r) }),
	}
	if d.page != nil {
		all[apidocs.PagePath], all[d.page.ScriptPath] = d.page, d.page.Script
	}
	return all
}

// root redirects browsers from the root to the documentation page. For other clients the
// root is an unknown path (C3.17), whose Error names the page, or says that it is disabled. The
// location is relative, since a proxy may have removed a prefix.
func (d docs) root(c *gin.Context) {
	r := c.Request
	if r.URL.Path != "/" {
		return
	}
	described := "/docs describes and tries the service"
	if d.page == nil {
		described = "/openapi.yaml describes the service, and its documentation page is off (DOCS)"
	}
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if d.page == nil || !reads || !strings.Contains(strings.Join(r.Header["Accept"], ","), "text/html") {
		middleware.Fail(c, models.NewError(models.CodeNotFound, "this is a plant store: create a plant with POST /plants; "+described))
		return
	}
	header := c.Writer.Header()
	header.Set("Location", "docs")
	header.Set("Cache-Control", "no-cache")
	header.Add("Vary", "Accept")
	c.AbortWithStatus(http.StatusFound)
	c.Writer.WriteHeaderNow()
}
