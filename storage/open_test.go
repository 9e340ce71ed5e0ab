package storage_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"plantstore/storage"
)

func TestEnginesOpen(t *testing.T) {
	t.Parallel()
	errOpened, errWrong := errors.New("opened"), errors.New("wrong engine")
	var opened storage.Location
	var with storage.Options
	engines := storage.Engines{
		"etcd": func(context.Context, storage.Location, storage.Options) (*storage.Store, error) { return nil, errWrong },
		"bbolt": func(_ context.Context, loc storage.Location, options storage.Options) (*storage.Store, error) {
			opened, with = loc, options
			return nil, errOpened
		},
	}
	if _, err := engines.Open(t.Context(), "data/plants.db", storage.Options{ReadOnly: true}); !errors.Is(err, errOpened) ||
		opened.Path != "data/plants.db" || !with.ReadOnly {
		t.Errorf("Open = %v with %+v, want the opener of bbolt called", err, opened)
	}
	if _, err := engines.Open(t.Context(), "", storage.Options{}); err == nil {
		t.Error("Open of an empty URL: nil")
	}
	_, err := engines.Open(t.Context(), "mysql://root:hunter2@host/db", storage.Options{})
	if err == nil || !strings.Contains(err.Error(), `"mysql"; known: bbolt, etcd`) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("Open of an unknown scheme: %v, want the known ones and no password", err)
	}
}
