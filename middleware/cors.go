package middleware

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// The header fields of CORS that a preflight asks with.
const (
	requestMethodHeader  = "Access-Control-Request-Method"
	requestHeadersHeader = "Access-Control-Request-Headers"
)

// Origins are the origins whose pages may use the service (C3.19), spelt as
// browsers do. "*" stands for all origins; none at all means that CORS is off.
type Origins []string

// Header returns the header fields that the answer to a request from origin
// carries, whoever writes it: the one place where this is decided. Origin is
// empty if the request names none or more than one. A credential is always sent
// on purpose, never by the browser of itself, so Access-Control-Allow-Credentials
// is not needed.
func (o Origins) Header(origin string) http.Header {
	if len(o) == 0 {
		return nil
	}
	header := http.Header{}
	switch {
	case slices.Contains(o, "*"):
		header.Set("Access-Control-Allow-Origin", "*")
	case slices.Contains(o, origin):
		header.Set("Access-Control-Allow-Origin", origin)
		header.Set("Vary", "Origin")
	default:
		header.Set("Vary", "Origin")
		return header
	}
	header.Set("Access-Control-Expose-Headers", "X-Request-Id, WWW-Authenticate, Allow, Accept-Encoding, Retry-After, ETag")
	return header
}

// CORS lets pages of the allowed origins read every answer, and answers their
// preflights without a credential. It allows any method and header: a page is to
// see the Error that a wrong one gets (C1.3), which a refused preflight would
// hide from it. To any other page it is as if there were no CORS.
func CORS(allowed Origins) gin.HandlerFunc {
	return func(c *gin.Context) {
		asked := c.Request.Header
		origin := ""
		if origins := asked["Origin"]; len(origins) == 1 {
			origin = origins[0]
		}
		header := c.Writer.Header()
		for name, values := range allowed.Header(origin) {
			header[name] = append(header[name], values...)
		}
		method := asked.Get(requestMethodHeader)
		if c.Request.Method != http.MethodOptions || origin == "" || method == "" ||
			header.Get("Access-Control-Allow-Origin") == "" {
			c.Next()
			return
		}
		names := strings.Join(asked[requestHeadersHeader], ", ")
		header.Set("Access-Control-Allow-Methods", method)
		header.Set("Access-Control-Allow-Headers", cmp.Or(names, "Authorization, Content-Type, X-Request-Id"))
		header.Set("Access-Control-Max-Age", "7200") // browsers keep it no longer
		header.Add("Vary", requestMethodHeader+", "+requestHeadersHeader)
		header.Del("Allow") // the router has set it, for an error 405
		c.AbortWithStatus(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
	}
}
