package storage_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

func TestReadOnly(t *testing.T) {
	t.Parallel()
	e := new(testEngine)
	s := storage.New(e, nil, storage.Limits{}, storage.Options{ReadOnly: true})
	if err := s.Create(t.Context(), 1, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) || !strings.Contains(err.Error(), "reading only") {
		t.Errorf("Create = %v, want: %v", err, storage.ErrUnavailable)
	}
	for name, err := range map[string]error{"Ready": s.Ready(), "Reset": s.Reset(t.Context(), nil)} {
		if !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("%s = %v, want: %v", name, err, storage.ErrUnavailable)
		}
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	if e.ended {
		t.Error("the background work has run")
	}
}

// A listEngine has plants to read, stores none, and has no optional ability.
type listEngine struct {
	storage.Engine // nil: no test gets a plant

	records []storage.Record
	err     error // after them
}

// Close implements [storage.Engine].
func (e *listEngine) Close() error { return nil }

// Commit implements [storage.Engine].
func (e *listEngine) Commit([]storage.Item) error { return nil }

// List implements [storage.Engine].
func (e *listEngine) List(context.Context, int64, bool) iter.Seq2[storage.Record, error] {
	return func(yield func(storage.Record, error) bool) {
		for _, r := range e.records {
			if !yield(r, nil) {
				return
			}
		}
		if e.err != nil {
			yield(storage.Record{}, e.err)
		}
	}
}

// TestMissingAbilities checks that the store does what the engine cannot, or returns an error.
func TestMissingAbilities(t *testing.T) {
	t.Parallel()
	e := &listEngine{records: make([]storage.Record, 3)}
	s := storage.New(e, nil, storage.Limits{}, storage.Options{})
	defer func() { _ = s.Close() }()
	if n, err := s.Count(t.Context()); n != 3 || err != nil {
		t.Errorf("Count = %d, %v, want 3", n, err)
	}
	e.err = storage.ErrCorrupt
	if _, err := s.Count(t.Context()); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Count = %v, want: %v", err, storage.ErrCorrupt)
	}
	report, err := s.Check(t.Context())
	if err != nil || report.Plants != 3 || len(report.Corruption) != 1 {
		t.Errorf("Check = %+v, %v, want 3 plants and a finding", report, err)
	}
	if err := s.Snapshot(t.Context(), io.Discard); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Snapshot = %v, want: %v", err, errors.ErrUnsupported)
	}
	if err := s.Reset(t.Context(), nil); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("Reset = %v, want: %v", err, errors.ErrUnsupported)
	}
	if file := s.Stats().File; file != nil {
		t.Errorf("statistics of a file: %+v, want none", file)
	}
}
