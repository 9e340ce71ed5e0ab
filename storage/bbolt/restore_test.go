package bbolt

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/storage"
)

// add creates n plants in the store at path.
func add(t *testing.T, path string, first int64, n int) {
	t.Helper()
	s := mustOpen(t, path)
	createPlants(t, s, first, n, 1000)
	must.Do(t, s.Close())
}

// wantPlants checks that the store at path opens, is intact and has n plants.
func wantPlants(t *testing.T, path string, want int64) {
	t.Helper()
	s := mustOpen(t, path)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	wantIntact(t, path, want)
}

// wantIntact checks that the store at path is intact and has n plants.
func wantIntact(t *testing.T, path string, want int64) {
	t.Helper()
	if report := check(t, path); !report.Intact() || report.Plants != want {
		t.Errorf("%s: %+v, want %d plants", filepath.Base(path), report, want)
	}
}

// TestRestore checks that an older copy replaces a store with later commits.
func TestRestore(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	backup := backUp(t, path)
	add(t, path, 10, 20)
	plants, kept, err := Restore(t.Context(), path, backup)
	if err != nil || plants != 10 || !strings.HasPrefix(kept, path+".replaced-") {
		t.Fatalf("Restore = %d, %s, %v", plants, kept, err)
	}
	wantPlants(t, path, 10)
	wantPlants(t, kept, 30)
	add(t, path, 10, 3)
	again, keptAgain, err := Restore(t.Context(), path, kept) // and back
	if err != nil || again != 30 || keptAgain == kept {
		t.Fatalf("Restore = %d, %s, %v", again, keptAgain, err)
	}
	wantPlants(t, path, 30)
	wantPlants(t, keptAgain, 13)
}

func TestRestoreThroughLink(t *testing.T) {
	t.Parallel()
	path, link := newFile(t, 10), newPath(t)
	must.Do(t, os.Symlink(path, link))
	_, kept, err := Restore(t.Context(), link, newFile(t, 3))
	must.Do(t, err)
	wantPlants(t, link, 3)
	wantPlants(t, kept, 10)
}

func TestRestoreWithoutDatabase(t *testing.T) {
	t.Parallel()
	backup := backUp(t, newFile(t, 10))
	path := filepath.Join(t.TempDir(), "new", "directory", "plants.db")
	if plants, kept, err := Restore(t.Context(), path, backup); err != nil || plants != 10 || kept != "" {
		t.Fatalf("Restore = %d, %q, %v", plants, kept, err)
	}
	wantPlants(t, path, 10)
}

// A meanwhile is a context that calls a function at the first call of Err.
type meanwhile struct {
	context.Context //nolint:containedctx // it is one
	do              func()
}

func (m *meanwhile) Err() error {
	if do := m.do; do != nil {
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
	ctx := &meanwhile{t.Context(), func() { add(t, path, 0, 3) }}
	if _, kept, err := Restore(ctx, path, backup); !errors.Is(err, fs.ErrExist) || kept != "" || ctx.do != nil {
		t.Errorf("Restore = %q, %v, want: %v", kept, err, fs.ErrExist)
	}
	wantPlants(t, path, 3)
	wantFiles(t, path, "plants.db")
}

// wantFiles checks the files in the directory of the database path, in order.
func wantFiles(t *testing.T, path string, want ...string) {
	t.Helper()
	entries := must.Get(os.ReadDir(filepath.Dir(path)))(t)
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the directory (-want +got):\n%s", diff)
	}
}

// TestRestoreOverCorrupt checks that a restore works if the previous database is too corrupt to
// open.
func TestRestoreOverCorrupt(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	backup := backUp(t, path)
	overwrite(t, path, 0, garbage(8192))
	plants, kept, err := Restore(t.Context(), path, backup)
	if err != nil || plants != 10 {
		t.Fatalf("Restore = %d, %v", plants, err)
	}
	wantPlants(t, path, 10)
	if text, err := os.ReadFile(kept); err != nil || string(text[:8192]) != string(garbage(8192)) {
		t.Errorf("the previous database is not kept: %v", err)
	}
}

// TestRestoreRefuses checks that no file is changed if the copy is corrupt, or the store is in
// use.
func TestRestoreRefuses(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	flipped := backUp(t, path)
	edit(t, flipped, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(plantsBucket)).Put(keyOf(3), []byte("no record"))
	})
	var corrupt *CorruptStoreError
	if _, _, err := Restore(t.Context(), path, flipped); !errors.As(err, &corrupt) || len(corrupt.Report.Corruption) != 1 {
		t.Errorf("Restore of a corrupt copy: %v", err)
	}
	short := backUp(t, path)
	must.Do(t, os.Truncate(short, 8192))
	if _, _, err := Restore(t.Context(), path, short); !errors.As(err, &corrupt) {
		t.Errorf("Restore of a copy cut short: %v", err)
	} else {
		wantLine(t, short, errors.New(corrupt.Report.Corruption[0]), "has been cut short")
	}
	if _, _, err := Restore(t.Context(), path, path+"no"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Restore without a copy: %v", err)
	}
	if _, _, err := Restore(t.Context(), path, path); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("Restore of the store over itself: %v, want: %v", err, storage.ErrLocked)
	}
	good := backUp(t, path)
	s := mustOpen(t, path)
	before := snapshot(t, path) // after an empty batch
	if _, _, err := Restore(t.Context(), path, good); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("Restore of a store in use: %v, want: %v", err, storage.ErrLocked)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the store was touched, %v", err)
	}
	must.Do(t, s.Close())
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 1 { // the database
		t.Errorf("the directory holds %v, %v", entries, err)
	}
}
