package control

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// A blindStore accepts all creates without storing them.
type blindStore struct{ Store }

// CreateAll implements [Store].
func (blindStore) CreateAll(_ context.Context, records []storage.Record) []error {
	return make([]error, len(records))
}

// FuzzWire sends arbitrary creates to the server, and passes arbitrary responses to the client. The
// response to a create is a line for each line of the request that is not blank.
func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"id":1,"name":"a"}` + "\n" + `{"id":2,"name":"b","tag":""}`))
	f.Add([]byte(`{"error":507,"message":"x"}` + "\n\n" + `{"error":500,"message":"x","corrupt":true,"corrupt_id":7}`))
	f.Add([]byte(`{"id":1,"name":"a","x":1} nul`))
	server := &Server{store: blindStore{}, options: Options{Limits: models.Limits{BodyBytes: 100}}}
	f.Fuzz(func(t *testing.T, text []byte) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/plants", bytes.NewReader(text))
		server.handler().ServeHTTP(w, r)
		response := w.Result()
		response.Request = r
		outcomes := 0
		for _, err := range lines[struct{}](response, maxOutcome) {
			if outcomes++; err != nil && !errors.Is(err, storage.ErrRefused) {
				t.Errorf("outcome %d: %v", outcomes, err)
			}
		}
		sent := 0
		for line := range bytes.Lines(text) {
			if line = bytes.TrimSuffix(line, []byte("\n")); len(bytes.TrimSpace(line)) > 0 || len(line) > 100 {
				sent++
			}
		}
		if outcomes != sent {
			t.Errorf("%d outcomes of %d lines", outcomes, sent)
		}
		for _, err := range lines[storage.Record](&http.Response{Body: io.NopCloser(bytes.NewReader(text)), Request: r}, 100) {
			if sent--; sent < -1 {
				t.Errorf("more values than lines, the last with the error %v", err)
			}
		}
	})
}
