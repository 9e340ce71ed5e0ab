//go:build unix

package bbolt

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"plantstore/internal/must"
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
			target, other, link := newFile(t, 0), t.TempDir(), newPath(t)
			if database != "." {
				target = filepath.Dir(target)
			}
			must.Do(t, os.Symlink(target, link))
			store := must.Get(OpenFile(filepath.Join(link, database), storage.Options{}))(t)
			must.Do(t, store.Create(t.Context(), 1, models.Plant{Name: "Ivy"}))
			must.Do(t, os.Remove(link))
			must.Do(t, os.Symlink(other, link))
			<-store.Stopped()
			if err := store.Create(t.Context(), 2, models.Plant{Name: "Ivy"}); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Create: %v", err)
			}
			_ = store.Close() // it may fail: the database was replaced
		})
	}
}
