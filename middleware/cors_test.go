package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"plantstore/middleware"
)

// TestCORS checks the header fields of responses to pages. Rule C3.19 of internal/conformance has more
// origins.
func TestCORS(t *testing.T) {
	t.Parallel()
	const a, b = "https://a.test", "http://b.test:8080"
	some := middleware.Origins{a, b}
	const usual = "Authorization, Content-Type, X-Request-Id, Prefer"
	varies := http.Header{"Vary": {"Origin"}}
	allows := func(origin string) http.Header { // the response that pages of that origin may read
		return http.Header{
			"Access-Control-Allow-Origin":   {origin},
			"Access-Control-Expose-Headers": {"X-Request-Id, WWW-Authenticate, Allow, Accept-Encoding, Retry-After, ETag, Preference-Applied"},
		}
	}
	with := func(header http.Header, name string, values ...string) http.Header {
		header[name] = values
		return header
	}
	from := func(origin string) http.Header { return http.Header{"Origin": {origin}} }
	preflight := func(method, headers string) http.Header {
		return http.Header{"Origin": {a}, "Access-Control-Request-Method": {method}, "Access-Control-Request-Headers": {headers}}
	}
	preflighted := func(method, headers string) http.Header {
		header := with(allows(a), "Vary", "Origin", "Access-Control-Request-Method, Access-Control-Request-Headers")
		header.Set("Access-Control-Allow-Methods", method)
		header.Set("Access-Control-Allow-Headers", headers)
		header.Set("Access-Control-Max-Age", "7200")
		return header
	}
	for name, tt := range map[string]struct {
		allowed middleware.Origins
		method  string
		sent    http.Header
		want    http.Header
	}{
		"off":                       {nil, "POST", from(a), http.Header{}},
		"all, without an origin":    {middleware.Origins{"*"}, "POST", http.Header{}, allows("*")},
		"an origin":                 {some, "POST", from(b), with(allows(b), "Vary", "Origin")},
		"without an origin":         {some, "POST", http.Header{}, varies},
		"another":                   {some, "POST", from("https://b.test:8080"), varies},
		"a star, literally":         {some, "POST", from("*"), varies},
		"preflight":                 {some, "OPTIONS", preflight("PUT", "x-trace,content-type"), preflighted("PUT", "x-trace,content-type")},
		"preflight without headers": {some, "OPTIONS", preflight("POST", ""), preflighted("POST", usual)},
		"POST like a preflight":     {some, "POST", preflight("POST", "x"), with(allows(a), "Vary", "Origin")},
		"OPTIONS without a method":  {some, "OPTIONS", from(a), with(allows(a), "Vary", "Origin")},
		"preflight of another":      {some, "OPTIONS", with(preflight("POST", ""), "Origin", "https://b.test"), varies},
		"preflight of two":          {some, "OPTIONS", with(preflight("POST", ""), "Origin", a, a), varies},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/plants", http.NoBody)
		r.Header = tt.sent
		allow := func(c *gin.Context) { c.Header("Allow", "POST") } // as the router does for another method
		w := serve(t, r, allow, middleware.CORS(tt.allowed), pass)
		got, passes := w.Header().Clone(), tt.want["Access-Control-Max-Age"] == nil
		if reached(w) != passes || !passes && w.Code != http.StatusNoContent || (got["Allow"] != nil) != passes {
			t.Errorf("%s: got %d %v, want the handler reached: %t", name, w.Code, got, passes)
		}
		got.Del("Allow")
		got.Del("Content-Type")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: header (-want +got):\n%s", name, diff)
		}
	}
}
