// Package oas checks the responses of a server against its OpenAPI description.
package oas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync"

	"github.com/pb33f/libopenapi"
	validator "github.com/pb33f/libopenapi-validator"
)

// A Checker checks responses against the description of the one operation. It reads numbers as
// float64, so it does not detect an inexact int64. It may be used by any number of goroutines.
type Checker struct {
	mu       sync.Mutex // the validator writes to the description while it reads it
	validate validator.Validator
}

// NewChecker returns a Checker for a description in YAML or JSON. It fails if the
// description is not a valid OpenAPI document.
func NewChecker(description []byte) (*Checker, error) {
	document, err := libopenapi.NewDocument(description)
	if err != nil {
		return nil, err
	}
	validate, errs := validator.NewValidator(document)
	if len(errs) > 0 {
		return nil, fmt.Errorf("%v", errs)
	}
	if valid, faults := validate.ValidateDocument(); !valid {
		return nil, fmt.Errorf("%v", faults)
	}
	return &Checker{validate: validate}, nil
}

// Check returns the violations of a response, or nil. A body that does not end with a newline is
// a violation, too, although the description does not mention it. Check reads the body and
// replaces it. Every response is checked as a response to POST /plants, since that is the only
// operation and every failure has the same form. A response to HEAD, without a body, cannot be
// checked.
func (c *Checker) Check(response *http.Response) error {
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	_ = response.Body.Close()
	defer func() { response.Body = io.NopCloser(bytes.NewReader(body)) }()
	response.Body = io.NopCloser(bytes.NewReader(body))

	if mediaType, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); mediaType != "application/json" {
		return fmt.Errorf("Content-Type is %q, with body %q", response.Header.Get("Content-Type"), body)
	}
	if !json.Valid(body) {
		return fmt.Errorf("the body is not JSON: %q", body)
	}
	if !bytes.HasSuffix(body, []byte("\n")) { // C1.2
		return fmt.Errorf("the body does not end with a newline: %q", body)
	}
	create, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1/plants", http.NoBody)
	if err != nil {
		return err
	}
	c.mu.Lock()
	valid, faults := c.validate.ValidateHttpResponse(create, response)
	c.mu.Unlock()
	if !valid {
		var texts []string
		for _, fault := range faults {
			texts = append(texts, fault.Error())
		}
		return fmt.Errorf("%d %s: %s", response.StatusCode, body, strings.Join(texts, "; "))
	}
	return nil
}

// A Recorder is an [http.RoundTripper] that checks every response it receives.
type Recorder struct {
	Checker *Checker
	// Base makes the requests.
	Base http.RoundTripper
	// Report is called for each response that violates the description.
	Report func(*http.Request, error)
}

// RoundTrip implements [http.RoundTripper].
func (r *Recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.Base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if request.Method != http.MethodHead {
		if fault := r.Checker.Check(response); fault != nil {
			r.Report(request, fault)
		}
	}
	return response, nil
}
