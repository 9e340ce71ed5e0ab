package bbolt

import (
	"io"
	"testing"
)

// TestSnapshotAfterUnknownOutcome checks that a snapshot of a stopped store ends: the journal has
// records that no checkpoint moves any more.
func TestSnapshotAfterUnknownOutcome(t *testing.T) {
	t.Parallel()
	e, err := OpenEngine(newPath(t), withJournal())
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Commit(batchOf(1)); err != nil {
		t.Fatal(err)
	}
	if err := e.journal.Close(); err != nil { // the next append fails, as on a failed disk
		t.Fatal(err)
	}
	if err := e.Commit(batchOf(2)); err == nil {
		t.Error("a create without a journal succeeded")
	}
	if err := e.Snapshot(t.Context(), io.Discard); err == nil {
		t.Error("a snapshot of a stopped store succeeded")
	}
	_ = e.Close() // its journal is closed
}
