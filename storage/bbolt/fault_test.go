package bbolt

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// TestNoCheckpointAfterFault checks that after a fault neither a checkpoint nor a commit writes
// to the database: it may have pages that the disk lacks.
func TestNoCheckpointAfterFault(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s, err := OpenEngine(path, withJournal())
	if err != nil {
		t.Fatal(err)
	}
	store := &testStore{storage.New(s, storage.Features{}, storage.Options{}), testEngine{s}} // without background checkpoints
	defer func() { _ = store.Close() }()
	createSome(t, store, rand.New(rand.NewPCG(7, 7)), map[int64]models.Plant{}, 10) //nolint:gosec // no secret
	before := snapshot(t, path)
	cause := errors.New("a sync has failed")
	_ = s.fatal(cause, nil)
	for name, write := range map[string]func() error{
		"checkpoint":                 func() error { return s.checkpoint(nil) },
		"checkpoint that had begun":  func() error { return s.update(nil, &s.state) },
		"commit without the journal": func() error { return s.update([]journal.Record{{ID: 1}}, nil) },
		"commit":                     func() error { return s.Commit([]storage.Item{{Record: storage.Record{ID: 1}}}) },
		"snapshot":                   func() error { return s.snapshot(t.Context(), &strings.Builder{}) },
	} {
		if err := write(); err == nil || !strings.Contains(err.Error(), cause.Error()) {
			t.Errorf("%s: %v, want: %v", name, err, cause)
		}
	}
	if string(snapshot(t, path)) != string(before) {
		t.Error("the database was changed")
	}
}

// TestPanicKeepsJournal lets a commit panic: the engine writes nothing any more, also not when it
// closes, so that the journal stays.
func TestPanicKeepsJournal(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	e, err := OpenEngine(path, withJournal())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(batchOf(1)); err != nil {
		t.Fatal(err)
	}
	pending := e.journal
	e.journal = nil
	if err := e.Commit(batchOf(2)); !errors.As(err, new(*storage.FatalError)) || !strings.Contains(err.Error(), "panic") {
		t.Errorf("a commit that panics: %v", err)
	}
	e.journal = pending
	for name, do := range map[string]func() error{
		"commit":     func() error { return e.Commit(batchOf(3)) },
		"checkpoint": func() error { return e.checkpoint(nil) },
	} {
		if err := do(); !errors.As(err, new(*storage.FatalError)) {
			t.Errorf("a %s after the panic: %v", name, err)
		}
	}
	if err := e.Close(); err != nil {
		t.Error(err)
	}
	if !exists(JournalPath(path)) {
		t.Error("the journal is gone")
	}
	s := mustOpen(t, path)
	if _, err := s.Get(t.Context(), 1); err != nil {
		t.Error(err)
	}
}
