package storagetest

import (
	"context"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// testStats checks that a store that counts, as engines do, counts what it was asked
// for, and nothing else.
func testStats(t *testing.T, open Open) {
	s := mustOpen(t, open)
	observable, ok := s.(storage.Observable)
	if !ok {
		return // it is the way to an engine, which counts for it
	}
	if n := observable.Stats().Group; n.Created != 0 || n.CommitPlants.Count != 0 || n.QueueLimit <= 0 {
		t.Errorf("at first: %+v", n)
	}
	records := many(300)
	mustCreate(t, s, records[:100]...)
	for _, err := range s.CreateAll(t.Context(), records[50:]) { // a part is there already
		if err != nil {
			wantExists(t, "CreateAll", err, true)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	wantError(t, "Create", s.Create(ended, 1<<40, models.Plant{}), storage.ErrOverloaded)

	n := observable.Stats().Group
	if n.Created != 300 || n.FailedCommits != 0 || !n.FailedAt.IsZero() || n.QueuedCreates != 0 || n.QueuedBytes != 0 {
		t.Errorf("after 300 plants: %+v", n)
	}
	if n.CommitPlants.Sum != 350 || n.CommitPlants.Count == 0 || n.CommitTime.Count != n.CommitPlants.Count || n.CommitTime.Sum <= 0 {
		t.Errorf("after 350 creates: %+v", n)
	}
	if file := observable.Stats().File; file != nil && (file.Plants != 300 || file.Size <= 0 || file.ReadOnly) {
		t.Errorf("of the file: %+v", file)
	}
	mustClose(t, s)
	s = mustOpen(t, open)
	observable, _ = s.(storage.Observable)
	if got := observable.Stats(); got.Group.Created != 0 || got.File != nil && got.File.Plants != 300 {
		t.Errorf("opened again: %+v, %+v", got.Group, got.File)
	}
}
