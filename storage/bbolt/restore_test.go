package bbolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"plantstore/internal/must"
	"plantstore/storage"
)

// wantIntact checks that the store at path is intact and has n plants.
func wantIntact(t *testing.T, path string, want int64) {
	t.Helper()
	if report := check(t, path); !report.Intact() || report.Plants != want {
		t.Errorf("%s: %+v, want %d plants", filepath.Base(path), report, want)
	}
}

func TestRestoreThroughLink(t *testing.T) {
	t.Parallel()
	path, link := newFile(t, 10), newPath(t)
	must.Do(t, os.Symlink(path, link))
	_, kept, err := Restore(t.Context(), link, newFile(t, 3))
	must.Do(t, err)
	wantIntact(t, link, 3)
	wantIntact(t, path, 3)
	wantIntact(t, kept, 10)
}

// A meanwhile is a context that calls a function once there is a file in a directory.
type meanwhile struct {
	context.Context //nolint:containedctx // it is one
	dir             string
	do              func()
}

func (m *meanwhile) Err() error {
	entries, _ := os.ReadDir(m.dir)
	if do := m.do; do != nil && len(entries) > 0 {
		m.do = nil
		do()
	}
	return m.Context.Err()
}

// TestRestoreMeetsNewDatabase checks that a database that a server has created since the stat
// of the path is not replaced.
func TestRestoreMeetsNewDatabase(t *testing.T) {
	t.Parallel()
	backup, path := newFile(t, 10), newPath(t)
	ctx := &meanwhile{t.Context(), filepath.Dir(path), func() { must.Do(t, os.Rename(newFile(t, 3), path)) }}
	if _, kept, err := Restore(ctx, path, backup); !errors.Is(err, fs.ErrExist) || kept != "" || ctx.do != nil {
		t.Errorf("Restore = %q, %v, want: %v", kept, err, fs.ErrExist)
	}
	wantIntact(t, path, 3)
	wantAlone(t, path)
}

// TestRestoreOfLocked checks that a database in use is not replaced, also by itself.
func TestRestoreOfLocked(t *testing.T) {
	t.Parallel()
	path, backup := newFile(t, 10), newFile(t, 3)
	if _, _, err := Restore(t.Context(), path, path); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("Restore of a database over itself: %v, want: %v", err, storage.ErrLocked)
	}
	s := mustOpen(t, path)
	if _, _, err := Restore(t.Context(), path, backup); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("Restore over a database in use: %v, want: %v", err, storage.ErrLocked)
	}
	must.Do(t, s.Close())
	wantIntact(t, path, 10)
	wantAlone(t, path)
}

// wantAlone checks that the file path is the only one in its directory.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	if entries := must.Get(os.ReadDir(filepath.Dir(path)))(t); len(entries) != 1 {
		t.Errorf("the directory has %v, want only the database", entries)
	}
}
