// Package e2e tests the real binary with real clients over real connections, and kills it.
package e2e

import (
	"context"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

func TestMain(m *testing.M) { os.Exit(plantstore.Main(m)) }

// A checker checks responses against the description of the one operation. It reads numbers as
// float64, so it does not detect an inexact int64.
type checker struct {
	mu       sync.Mutex // the validator writes to the description while it reads it
	validate validator.Validator
}

func newChecker(t *testing.T) *checker {
	t.Helper()
	document := must.Get(libopenapi.NewDocument([]byte(printed(t, "yaml"))))(t)
	validate, errs := validator.NewValidator(document)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	return &checker{validate: validate}
}

// check returns the violations of a response, or nil. A body that does not end with a newline is
// a violation, too, although the description does not mention it (C1.2). Each response is
// checked as one to POST /plants: there is no other operation, and all failures have one form.
func (c *checker) check(r plantstore.Reply) error {
	if mediaType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); mediaType != "application/json" {
		return fmt.Errorf("Content-Type is %q, with body %q", r.Header.Get("Content-Type"), r.Body)
	}
	if !strings.HasSuffix(r.Body, "\n") {
		return fmt.Errorf("the body does not end with a newline: %q", r.Body)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	create := httptest.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1/plants", http.NoBody)
	valid, faults := c.validate.ValidateHttpResponse(create, &http.Response{
		StatusCode: r.Status, Header: r.Header, Body: io.NopCloser(strings.NewReader(r.Body)),
	})
	if !valid {
		return fmt.Errorf("%d %s: %v", r.Status, r.Body, faults)
	}
	return nil
}

// TestDescriptionIsStrict checks that the description excludes each kind of deviation.
func TestDescriptionIsStrict(t *testing.T) {
	t.Parallel()
	c := newChecker(t)
	for _, tt := range []struct {
		status int
		body   string
		field  string // a header field to change, as NAME: VALUE
		good   bool
	}{
		{200, `{"name":"a","tag":"b"}`, "", true},
		{200, `{"name":""}`, "", true},
		{400, `{"error":422,"message":"no"}`, "", true},
		{200, `{"id":1,"name":"a"}`, "", false},
		{200, `{"tag":"a"}`, "", false},
		{200, `{"name":null}`, "", false},
		{200, `{"name":"a","tag":null}`, "", false},
		{200, `{"error":422,"message":"no"}`, "", false},
		{400, `{"name":"a"}`, "", false},
		{400, `{"error":418,"message":"no"}`, "", false},
		{400, `{"error":"422","message":"no"}`, "", false},
		{400, `{"message":"no"}`, "", false},
		{400, `{"error":422,"message":""}`, "", false},
		{400, `{"error":422,"message":"no","detail":""}`, "", false},
		{400, `Bad Request`, "", false},
		{201, `{"name":"a"}`, "", false},
		{500, `{"error":500,"message":"no"}`, "", false},
		{200, `{"name":"a"}`, "Content-Type: text/plain", false},
		{200, `{"name":"a"}`, "X-Request-Id: a b", false},
		{400, `{"error":422,"message":"no"}`, "X-Content-Type-Options: sniff", false},
	} {
		header := http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"a-1"}, "X-Content-Type-Options": {"nosniff"}}
		if name, value, found := strings.Cut(tt.field, ": "); found {
			header.Set(name, value)
		}
		err := c.check(plantstore.Reply{Status: tt.status, Header: header, Body: tt.body + "\n"})
		if (err == nil) != tt.good {
			t.Errorf("%d %s, %s: %v, want good: %t", tt.status, tt.body, tt.field, err, tt.good)
		}
	}
}
