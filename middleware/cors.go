package middleware

import (
	"cmp"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"
)

// The header fields of a CORS preflight request.
const (
	requestMethodHeader  = "Access-Control-Request-Method"
	requestHeadersHeader = "Access-Control-Request-Headers"
)

// Origins are the origins whose pages may use the service (C3.19), in the form that
// browsers send. "*" allows all origins; an empty list disables CORS.
type Origins []string

// Header returns the CORS header fields of every response to a request from origin.
// Origin is empty if the request has no Origin field or more than one. Pages set the
// credential explicitly; browsers never add it, so Access-Control-Allow-Credentials
// is not needed.
func (o Origins) Header(origin string) http.Header {
	if len(o) == 0 {
		return nil
	}
	header, allowed := http.Header{}, "*"
	if !slices.Contains(o, "*") {
		header.Set("Vary", "Origin")
		if !slices.Contains(o, origin) {
			return header
		}
		allowed = origin
	}
	header.Set("Access-Control-Allow-Origin", allowed)
	header.Set("Access-Control-Expose-Headers", "X-Request-Id, WWW-Authenticate, Allow, Accept-Encoding, Retry-After, ETag, Preference-Applied")
	return header
}

// CORS lets pages of the allowed origins read every response, and responds to their
// preflights without a credential. It allows any method and header field: a rejected
// preflight would hide from the page the Error of a wrong one (C1.3). For other
// origins the responses carry no permission.
func CORS(allowed Origins) gin.HandlerFunc {
	return func(c *gin.Context) {
		request := c.Request.Header
		origin := ""
		if origins := request["Origin"]; len(origins) == 1 {
			origin = origins[0]
		}
		header := c.Writer.Header()
		maps.Copy(header, allowed.Header(origin))
		if !isPreflight(c.Request) || origin == "" || header.Get("Access-Control-Allow-Origin") == "" {
			return
		}
		names := strings.Join(request[requestHeadersHeader], ", ")
		header.Set("Access-Control-Allow-Methods", request.Get(requestMethodHeader))
		header.Set("Access-Control-Allow-Headers", cmp.Or(names, "Authorization, Content-Type, X-Request-Id, Prefer"))
		header.Set("Access-Control-Max-Age", "7200") // seconds; the maximum of browsers
		header.Add("Vary", requestMethodHeader+", "+requestHeadersHeader)
		header.Del("Allow") // set by the router for an error 405
		c.AbortWithStatus(http.StatusNoContent)
		c.Writer.WriteHeaderNow()
	}
}

// isPreflight reports whether a request is a CORS preflight, if it has an origin.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get(requestMethodHeader) != ""
}
