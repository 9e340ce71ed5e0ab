package bbolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

func TestOpenCreatesDirectoriesAndFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "my plants", "100%.db")
	s := mustOpen(t, path)
	must.Do(t, s.Create(t.Context(), 1, models.Plant{Name: "a"}))
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != filePerm {
		t.Errorf("Stat = %v, %v, want a file of mode %v", info, err, fs.FileMode(filePerm))
	}
	wantAlone(t, path)
}

// TestOpenRefuses opens files that are not plant stores, or no longer intact ones. They must not
// change in any way.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	pageSize := int64(os.Getpagesize())
	for name, test := range map[string]struct {
		path func(t *testing.T) string
		want string
	}{
		"empty": {written(nil), "is not the file of a plant store"},
		"short": {written([]byte("x")), "is not the file of a plant store"},
		"text":  {written([]byte(strings.Repeat("not a database\n", 10_000))), "is not the file of a plant store"},
		"bbolt of another program": {
			foreign(&bolt.Options{}), "is a bbolt database, but not of a plant store",
		},
		"bbolt without a list of free pages": { // bbolt would write one
			foreign(&bolt.Options{NoFreelistSync: true}), "is a bbolt database, but not of a plant store",
		},
		"newer schema":            {schema("2"), "has schema version 2, and this plantstore supports versions up to 1: upgrade plantstore"},
		"bad schema":              {schema("one"), `schema version is "one"`},
		"no schema":               {schema(""), `schema version is ""`},
		"no plants":               {edited(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(plantsBucket)) }), "not of a plant store"},
		"cut to the meta pages":   {cut(2 * pageSize), "has been cut short, to"},
		"cut by one byte in use":  {cut(-1), "has been cut short, to"},
		"both meta pages corrupt": {corruptedAt(0, pageSize), "its beginning is corrupt"},
		"other byte order":        {otherOrder, "is of a machine with another byte order: export its plants there"},
		"root page of no type":    {noRoot, "is corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := test.path(t)
			before := snapshot(t, path)
			for range 2 { // the first attempt must not affect the second
				s, err := openTest(storage.Options{}, path)
				if err == nil {
					_ = s.Close()
				}
				wantLine(t, path, err, test.want)
			}
			if after := snapshot(t, path); !bytes.Equal(before, after) {
				t.Error("the file has been changed")
			}
			must.Do(t, must.Get(lock(path))(t)()) // it is not locked any more
		})
	}
}

// snapshot returns the content of a file.
func snapshot(t *testing.T, path string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return b
}

func written(content []byte) func(*testing.T) string {
	return func(t *testing.T) string {
		path := newPath(t)
		must.Do(t, os.WriteFile(path, content, 0o600))
		return path
	}
}

func foreign(options *bolt.Options) func(*testing.T) string {
	return func(t *testing.T) string {
		path := newPath(t)
		db, err := bolt.Open(path, 0o600, options)
		must.Do(t, err)
		err = db.Update(func(tx *bolt.Tx) error {
			_, err := tx.CreateBucket([]byte("key"))
			return err
		})
		must.Do(t, errors.Join(err, db.Close()))
		return path
	}
}

func edited(change func(tx *bolt.Tx) error) func(*testing.T) string {
	return func(t *testing.T) string {
		path := newFile(t, 1)
		edit(t, path, change)
		return path
	}
}

func schema(version string) func(*testing.T) string {
	return edited(func(tx *bolt.Tx) error { return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), []byte(version)) })
}

// cut truncates the file to size; a negative size is relative to the bytes in use.
func cut(size int64) func(*testing.T) string {
	return func(t *testing.T) string {
		path := newFile(t, 1)
		if size < 0 {
			f := must.Get(os.Open(path))(t)
			m, _ := newestMeta(f)
			_ = f.Close()
			size += int64(m.Pages) * int64(m.PageSize)
		}
		must.Do(t, os.Truncate(path, size))
		return path
	}
}

func corruptedAt(offsets ...int64) func(*testing.T) string {
	return func(t *testing.T) string {
		path := newFile(t, 1)
		for _, offset := range offsets {
			overwrite(t, path, offset, garbage(100))
		}
		return path
	}
}

// otherOrder returns a file that begins as on a machine of the other byte order.
func otherOrder(t *testing.T) string {
	path := newFile(t, 1)
	magic := binary.NativeEndian.AppendUint32(nil, metaMagic)
	slices.Reverse(magic)
	for page := range int64(2) {
		overwrite(t, path, page*int64(os.Getpagesize())+metaStart, magic)
	}
	return path
}

func noRoot(t *testing.T) string {
	return corruptFile(t, newFile(t, 1), func(m *pageMap) { m.page(m.root)[pageFlags] = 0 })
}

// TestOpenRacing lets several create a file: one opens it, the others find it locked, and all of them use
// the same file.
func TestOpenRacing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "new", "plants.db")
	var opened atomic.Pointer[testStore]
	var all sync.WaitGroup
	for range 6 {
		all.Go(func() {
			switch s, err := openTest(storage.Options{}, path); {
			case err == nil && !opened.CompareAndSwap(nil, s):
				t.Error("two have the store open")
			case err != nil && !errors.Is(err, storage.ErrLocked):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if s := opened.Load(); s == nil {
		t.Error("nobody has the store open")
	} else {
		must.Do(t, s.Close())
	}
	wantIntact(t, path, 0)
	wantAlone(t, path)
}
