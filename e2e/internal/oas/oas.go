// Package oas holds the answers of a server against its OpenAPI description.
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

// A Judge knows what the description says of the answers to its one operation.
// It reads numbers as float64: it does not see whether an int64 is exact. It may
// be used by any number of goroutines.
type Judge struct {
	mu       sync.Mutex // the validator writes to the description while it reads it
	validate validator.Validator
}

// NewJudge returns a Judge for a description in YAML or JSON. It fails if the
// description is no valid OpenAPI document.
func NewJudge(description []byte) (*Judge, error) {
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
	return &Judge{validate: validate}, nil
}

// Check returns what is wrong with an answer, or nil. It reads the body and puts
// it back. Whatever was asked, the answer must be one to POST /plants, since
// that is the only operation and every failure has the same form. An answer to
// HEAD has no body, and cannot be judged.
func (j *Judge) Check(answer *http.Response) error {
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("reading the body: %w", err)
	}
	_ = answer.Body.Close()
	defer func() { answer.Body = io.NopCloser(bytes.NewReader(body)) }()
	answer.Body = io.NopCloser(bytes.NewReader(body))

	if mediaType, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); mediaType != "application/json" {
		return fmt.Errorf("Content-Type is %q, with body %q", answer.Header.Get("Content-Type"), body)
	}
	if !json.Valid(body) {
		return fmt.Errorf("the body is no JSON: %q", body)
	}
	create, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://127.0.0.1/plants", http.NoBody)
	if err != nil {
		return err
	}
	j.mu.Lock()
	valid, faults := j.validate.ValidateHttpResponse(create, answer)
	j.mu.Unlock()
	if !valid {
		var texts []string
		for _, fault := range faults {
			texts = append(texts, fault.Error())
		}
		return fmt.Errorf("%d %s: %s", answer.StatusCode, body, strings.Join(texts, "; "))
	}
	return nil
}

// A Recorder is an [http.RoundTripper] that judges every answer it sees.
type Recorder struct {
	Judge *Judge
	// Base makes the requests.
	Base http.RoundTripper
	// Report is told of each answer that is not as described.
	Report func(*http.Request, error)
}

// RoundTrip implements [http.RoundTripper].
func (r *Recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	answer, err := r.Base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if request.Method != http.MethodHead {
		if fault := r.Judge.Check(answer); fault != nil {
			r.Report(request, fault)
		}
	}
	return answer, nil
}
