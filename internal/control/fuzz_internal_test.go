package control

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-json-experiment/json"

	"plantstore/models"
	"plantstore/storage"
)

// A blindStore accepts all creates without storing them.
type blindStore struct{ Store }

// DryRun implements [Store].
func (b blindStore) DryRun(ctx context.Context, records []storage.Record) []error {
	return b.CreateAll(ctx, records)
}

// CreateAll implements [Store].
func (blindStore) CreateAll(_ context.Context, records []storage.Record) []error {
	return make([]error, len(records))
}

// FuzzWire sends arbitrary creates to the server, and decodes arbitrary failures. The response
// is one outcome for each plant, or a failure.
func FuzzWire(f *testing.F) {
	f.Add([]byte(`{"id":1,"name":"a"}`+"\n"+`{"id":2,"name":"b","tag":""}`), "")
	f.Add([]byte(`{"kind":"no_space","message":"x"}`), "?dry_run")
	f.Add([]byte(`{"id":1,"name":"a","x":1} nul`), "?%")
	limits := models.Limits{BodyBytes: 100}
	server := &Server{store: blindStore{}, options: Options{Limits: limits}, decoder: models.NewDecoder(limits, strict())}
	f.Fuzz(func(t *testing.T, text []byte, query string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, pathPlants, bytes.NewReader(text))
		r.URL.RawQuery = query
		server.handler().ServeHTTP(w, r)
		var outcomes []*failure
		var refused failure
		switch {
		case w.Code == http.StatusOK && json.Unmarshal(w.Body.Bytes(), &outcomes, strict()) == nil:
		case w.Code == http.StatusBadRequest && json.Unmarshal(w.Body.Bytes(), &refused, strict()) == nil && refused.err() != nil:
		default:
			t.Errorf("responded with %d %s", w.Code, w.Body)
		}
		var decoded failure
		if json.Unmarshal(text, &decoded, strict()) == nil {
			if err := decoded.err(); err == nil || failureOf(err).err().Error() != err.Error() && failureOf(err).Kind != kindOther {
				t.Errorf("%s stands for %v", text, err)
			}
		}
	})
}
