package apidocs_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"plantstore/internal/apidocs"
)

func TestServe(t *testing.T) {
	t.Parallel()
	d := describe(t, defaultURL)
	tests := map[string]struct {
		document  *apidocs.Document
		mediaType string
	}{
		"YAML": {d.YAML, "application/yaml"},
		"JSON": {d.JSON, "application/json"},
	}
	for name, tt := range tests {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			t.Run(method+" "+name, func(t *testing.T) {
				t.Parallel()
				response := serve(tt.document, method, nil)
				want := string(tt.document.Bytes())
				checkHeader(t, response, "Content-Length", strconv.Itoa(len(want)))
				checkHeader(t, response, "Content-Type", tt.mediaType)
				checkHeader(t, response, "Cache-Control", "no-cache")
				checkHeader(t, response, "Accept-Ranges", "")
				if method == http.MethodHead {
					want = ""
				}
				if response.Code != http.StatusOK || response.Body.String() != want {
					t.Errorf("status %d, %d bytes; want 200, %d bytes", response.Code, response.Body.Len(), len(want))
				}
			})
		}
	}
}

func TestConditions(t *testing.T) {
	t.Parallel()
	document := describe(t, defaultURL).YAML
	etag := serve(document, http.MethodGet, nil).Header().Get("ETag")
	tests := map[string]struct {
		header http.Header
		want   int
	}{
		"same tag":               {http.Header{"If-None-Match": {etag}}, 304},
		"same tag, weak":         {http.Header{"If-None-Match": {"W/" + etag}}, 304},
		"in a list":              {http.Header{"If-None-Match": {`"a", ` + etag + `, "b"`}}, 304},
		"in a second line":       {http.Header{"If-None-Match": {`"a"`, etag}}, 304},
		"any":                    {http.Header{"If-None-Match": {"*"}}, 304},
		"other tag":              {http.Header{"If-None-Match": {`"a"`}}, 200},
		"no quotes":              {http.Header{"If-None-Match": {strings.Trim(etag, `"`)}}, 200},
		"empty":                  {http.Header{"If-None-Match": {""}}, 200},
		"part of it":             {http.Header{"Range": {"bytes=0-9"}}, 200},
		"a part that it has not": {http.Header{"Range": {"bytes=9999999-"}}, 200},
		"another that must be":   {http.Header{"If-Match": {`"a"`}}, 200},
	}
	for name, tt := range tests {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			t.Run(method+" "+name, func(t *testing.T) {
				t.Parallel()
				response := serve(document, method, tt.header)
				checkHeader(t, response, "ETag", etag)
				checkHeader(t, response, "Cache-Control", "no-cache")
				wholeBody := tt.want == http.StatusOK && method == http.MethodGet
				if response.Code != tt.want || (response.Body.Len() == len(document.Bytes())) != wholeBody {
					t.Errorf("status %d, %d bytes; want %d", response.Code, response.Body.Len(), tt.want)
				}
			})
		}
	}
}

func TestETagsNameTheContent(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, base := range []string{defaultURL, "https://plants.test"} {
		d := describe(t, base)
		for name, document := range map[string]*apidocs.Document{"YAML": d.YAML, "JSON": d.JSON} {
			etag := serve(document, http.MethodGet, nil).Header().Get("ETag")
			if len(etag) < 10 || etag[0] != '"' || etag[len(etag)-1] != '"' {
				t.Errorf("%s of %s: %s is not a strong entity tag", name, base, etag)
			}
			if other, taken := seen[etag]; taken {
				t.Errorf("%s of %s has the entity tag of %s", name, base, other)
			}
			seen[etag] = name + " of " + base
		}
	}
	again := serve(describe(t, defaultURL).JSON, http.MethodGet, nil).Header().Get("ETag")
	if seen[again] != "JSON of "+defaultURL {
		t.Error("the same content got another entity tag")
	}
}

func serve(document http.Handler, method string, header http.Header) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(context.Background(), method, "/", nil)
	request.Header = header
	response := httptest.NewRecorder()
	document.ServeHTTP(response, request)
	return response
}

func checkHeader(t *testing.T, response *httptest.ResponseRecorder, name, want string) {
	t.Helper()
	if got := response.Header().Get(name); got != want {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}
