//go:build unix

package bbolt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"plantstore/models"
	"plantstore/storage"
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
				noError(t, os.Rename(newFile(t, 0), target))
			} else {
				noError(t, os.Mkdir(target, 0o700))
			}
			noError(t, os.Symlink(target, link))
			store, err := OpenFile(filepath.Join(link, database), storage.Options{})
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
