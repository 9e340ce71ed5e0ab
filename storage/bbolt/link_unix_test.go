//go:build unix

package bbolt_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// TestRedirectedLink checks that a store stops after a link in the path of the open database leads
// to another place: the next start would not find its plants (C5.26).
func TestRedirectedLink(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]string{"of the directory": "plants.db", "of the file": "."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := t.TempDir()
			link := filepath.Join(base, "current")
			target := filepath.Join(base, "first")
			if database == "." {
				noError(t, createClosed(target))
			} else {
				noError(t, os.Mkdir(target, 0o700))
			}
			noError(t, os.Symlink(target, link))
			store, err := bbolt.OpenFile(filepath.Join(link, database), storage.Options{JournalBytes: 1 << 20})
			noError(t, err)
			noError(t, store.Create(t.Context(), 1, models.Plant{Name: "Ivy"}))
			other := filepath.Join(base, "second")
			noError(t, os.Mkdir(other, 0o700))
			noError(t, os.Remove(link))
			noError(t, os.Symlink(other, link))
			<-store.Stopped()
			if err := store.Create(t.Context(), 2, models.Plant{Name: "Ivy"}); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Create: %v", err)
			}
			_ = store.Close() // it may fail: the database was replaced
		})
	}
}

// TestJournalNextToLink checks that the journal is next to the name by which a database is
// opened, for reading and for writing.
func TestJournalNextToLink(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	target, link := filepath.Join(base, "real", "plants.db"), filepath.Join(base, "link", "plants.db")
	noError(t, os.Mkdir(filepath.Dir(target), 0o700))
	noError(t, os.Mkdir(filepath.Dir(link), 0o700))
	noError(t, createClosed(target))
	noError(t, os.Symlink(target, link))
	store, err := bbolt.OpenFile(link, storage.Options{JournalBytes: 1 << 20})
	noError(t, err)
	noError(t, store.Create(t.Context(), 1, models.Plant{Name: "Ivy"}))
	crashed := make(map[string][]byte)
	for _, path := range []string{target, bbolt.JournalPath(link)} {
		crashed[path], err = os.ReadFile(path)
		noError(t, err)
	}
	noError(t, store.Close())
	for path, content := range crashed {
		noError(t, os.WriteFile(path, content, 0o600))
	}
	for _, readOnly := range []bool{true, false} {
		store, err := bbolt.OpenFile(link, storage.Options{JournalBytes: 1 << 20, ReadOnly: readOnly})
		noError(t, err)
		if plants, err := store.Count(t.Context()); plants != 1 || err != nil {
			t.Errorf("reading %v: %d plants, %v", readOnly, plants, err)
		}
		noError(t, store.Close())
	}
}

// createClosed creates an empty database.
func createClosed(path string) error {
	store, err := bbolt.OpenFile(path, storage.Options{})
	if err != nil {
		return err
	}
	return store.Close()
}

func noError(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
