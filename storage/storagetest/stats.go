package storagetest

import (
	"context"
	"testing"

	"plantstore/models"
	"plantstore/storage"
)

// testStats checks that a store counts requests correctly.
func testStats(t *testing.T, open Open) {
	s := mustOpen(t, open)
	store, ok := s.(*storage.Store)
	if !ok {
		return // the store under test is a client
	}
	if n := store.Stats(); n.Created != 0 || n.QueueLimit <= 0 {
		t.Errorf("at first: %+v", n)
	}
	records := many(300)
	mustCreate(t, s, records[:100]...)
	for _, err := range s.CreateAll(t.Context(), records[50:]) { // some of the plants exist already
		if err != nil {
			wantExists(t, "CreateAll", err, true)
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	wantError(t, "Create", s.Create(ended, 1<<40, models.Plant{}), storage.ErrOverloaded)

	n := store.Stats()
	if n.Created != 300 || n.FailedCommits != 0 || n.QueuedCreates != 0 || n.QueuedBytes != 0 {
		t.Errorf("after 300 plants: %+v", n)
	}
	if file := n.File; file != nil && (file.Plants != 300 || file.Size <= 0 || file.Free <= 0) {
		t.Errorf("of the file: %+v", file)
	}
	mustClose(t, s)
	s = mustOpen(t, open)
	store, _ = s.(*storage.Store)
	if got := store.Stats(); got.Created != 0 || got.File != nil && got.File.Plants != 300 {
		t.Errorf("opened again: %+v, %+v", got, got.File)
	}
}
