package control_test

import (
	"errors"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/control"
	"plantstore/internal/must"
	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// TestLimit checks that a server refuses the plants beyond its limit and accepts the others.
func TestLimit(t *testing.T) {
	t.Parallel()
	const limit = 1000
	path := filepath.Join(t.TempDir(), "plants.db")
	store := must.Get(bbolt.OpenFile(path, storage.Options{}))(t)
	defer func() { _ = store.Close() }()
	listener := must.Get(control.Listen(t.Context(), path))(t)
	server := control.Start(listener, store, control.Options{Requests: http.NotFoundHandler(), MaxBodyBytes: limit, Logger: slog.New(slog.DiscardHandler)})
	defer func() { _ = server.Close() }()
	client := must.Get(control.Dial(t.Context(), path))(t)
	defer func() { _ = client.Close() }()
	fits := limit - len(`{"id":1,"name":""}`)
	lengths := []int{0, fits, fits + 1, 1, 5 << 20, 2, 9 << 20, 5 << 20, fits}
	var records []storage.Record
	for id, length := range lengths {
		records = append(records, storage.Record{ID: int64(id), Plant: models.Plant{Name: strings.Repeat("x", length)}})
	}
	outcomes := storage.New(client, nil, storage.Limits{}, storage.Options{}).CreateAll(t.Context(), records)
	if len(outcomes) != len(records) {
		t.Fatalf("%d outcomes of %d", len(outcomes), len(records))
	}
	for i, err := range outcomes {
		if tooLarge := lengths[i] > fits; errors.Is(err, plantio.ErrRefused) != tooLarge || !tooLarge && err != nil {
			t.Errorf("create of %d bytes: %v", lengths[i], err)
		}
	}
	for i, length := range lengths {
		if _, err := store.Get(t.Context(), int64(i)); errors.Is(err, storage.ErrNotFound) != (length > fits) {
			t.Errorf("the plant of %d bytes: %v", length, err)
		}
	}
}
