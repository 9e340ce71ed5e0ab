package bbolt

import (
	"os"
	"path/filepath"
	"testing"

	"plantstore/internal/testkit"
	"plantstore/models"
	"plantstore/storage"
)

// TestReadAsRoot checks that root may read a database with a journal in a directory of another
// user, although it must not write there.
func TestReadAsRoot(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "give files away")
	source := newPath(t)
	s := openJournalled(t, source)
	if err := s.Create(t.Context(), 1, models.Plant{Name: "a"}); err != nil {
		t.Fatal(err)
	}
	path := killed(t, source)
	if err := os.Chown(filepath.Dir(path), 65532, 65532); err != nil {
		t.Fatal(err)
	}
	reader, err := openStore(storage.Options{ReadOnly: true}, path)
	if err != nil {
		t.Fatal(err)
	}
	if plant, err := reader.Get(t.Context(), 1); err != nil || plant.Name != "a" {
		t.Errorf("Get: %v, %v", plant, err)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if _, err := openStore(storage.Options{}, path); err == nil {
		t.Error("opened for writing")
	}
}
