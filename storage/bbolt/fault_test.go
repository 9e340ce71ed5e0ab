package bbolt

import (
	"errors"
	"strings"
	"testing"

	"plantstore/storage"
)

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
