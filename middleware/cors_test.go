package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"

	"plantstore/middleware"
)

const exposed = "X-Request-Id, WWW-Authenticate, Allow, Accept-Encoding, Retry-After, ETag, Preference-Applied"

// TestOriginsHeader checks the header fields. Rule C3.19 of internal/conformance has more origins.
func TestOriginsHeader(t *testing.T) {
	t.Parallel()
	some := middleware.Origins{"https://a.test", "http://b.test:8080"}
	varies := http.Header{"Vary": {"Origin"}}
	for name, tt := range map[string]struct {
		allowed middleware.Origins
		origin  string
		want    http.Header
	}{
		"off":               {nil, "https://a.test", nil},
		"all, without":      {middleware.Origins{"*"}, "", allows("*")},
		"second":            {some, "http://b.test:8080", with(allows("http://b.test:8080"), "Vary", "Origin")},
		"without":           {some, "", varies},
		"a star, literally": {some, "*", varies},
	} {
		if diff := cmp.Diff(tt.want, tt.allowed.Header(tt.origin)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// allows returns the header of a response that pages of that origin may read.
func allows(origin string) http.Header {
	return http.Header{"Access-Control-Allow-Origin": {origin}, "Access-Control-Expose-Headers": {exposed}}
}

func with(header http.Header, name string, values ...string) http.Header {
	header[name] = values
	return header
}

func TestCORS(t *testing.T) {
	t.Parallel()
	const origin, vary = "https://a.test", "Access-Control-Request-Method, Access-Control-Request-Headers"
	cors := middleware.CORS(middleware.Origins{origin})
	preflight := func(method, headers string) http.Header {
		return http.Header{
			"Origin": {origin}, "Access-Control-Request-Method": {method}, "Access-Control-Request-Headers": {headers},
		}
	}
	preflighted := func(method, headers string) http.Header {
		header := with(allows(origin), "Vary", "Origin", vary)
		header.Set("Access-Control-Allow-Methods", method)
		header.Set("Access-Control-Allow-Headers", headers)
		header.Set("Access-Control-Max-Age", "7200")
		return header
	}
	plain := http.Header{"Vary": {"Origin"}}
	for name, tt := range map[string]struct {
		method string
		sent   http.Header
		want   http.Header
		passes bool
	}{
		"create":                    {"POST", http.Header{"Origin": {origin}}, with(allows(origin), "Vary", "Origin"), true},
		"preflight":                 {"OPTIONS", preflight("POST", "authorization,content-type"), preflighted("POST", "authorization,content-type"), false},
		"preflight without headers": {"OPTIONS", preflight("POST", ""), preflighted("POST", "Authorization, Content-Type, X-Request-Id, Prefer"), false},
		"POST like a preflight":     {"POST", preflight("POST", "x"), with(allows(origin), "Vary", "Origin"), true},
		"OPTIONS without a method":  {"OPTIONS", http.Header{"Origin": {origin}}, with(allows(origin), "Vary", "Origin"), true},
		"preflight of another":      {"OPTIONS", with(preflight("POST", ""), "Origin", "https://b.test"), plain, true},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, "/plants", http.NoBody)
		r.Header = tt.sent
		allow := func(c *gin.Context) { c.Header("Allow", "POST") } // as the router does for another method
		w := serve(t, r, allow, cors, pass)
		if reached(w) != tt.passes || !tt.passes && w.Code != http.StatusNoContent {
			t.Errorf("%s: got %d %s, want the handler reached: %t", name, w.Code, w.Body, tt.passes)
		}
		got := w.Header().Clone()
		if kept := got.Get("Allow") != ""; kept != tt.passes {
			t.Errorf("%s: the response has Allow: %t, want it: %t", name, kept, tt.passes)
		}
		got.Del("Allow")
		got.Del("Content-Type")
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: header (-want +got):\n%s", name, diff)
		}
	}
}
