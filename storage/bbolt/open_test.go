package bbolt

import (
	"bytes"
	"errors"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
	"plantstore/storage"
)

// TestOpenRefuses opens files that are not plant stores, or no longer intact ones. They must not
// change in any way.
func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	m, size := newPageMap(t, newFile(t, 1)), os.Getpagesize()
	schema := func(version string) string {
		return edited(t, func(tx *bolt.Tx) error { return tx.Bucket([]byte(metaBucket)).Put([]byte(schemaKey), []byte(version)) })
	}
	magic := field{headerLen, 4}
	for name, test := range map[string]struct{ path, want string }{
		"empty":                    {written(t, nil), "is not the file of a plant store"},
		"short":                    {written(t, []byte("x")), "is not the file of a plant store"},
		"text":                     {written(t, bytes.Repeat([]byte("not a database\n"), 10_000)), "is not the file of a plant store"},
		"bbolt of another program": {foreign(t, &bolt.Options{}), "is a bbolt database, but not of a plant store"},
		"bbolt without a list of free pages": { // bbolt would write one
			foreign(t, &bolt.Options{NoFreelistSync: true}), "is a bbolt database, but not of a plant store",
		},
		"newer schema":            {schema("2"), "has schema version 2, and this plantstore supports versions up to 1: upgrade plantstore"},
		"bad schema":              {schema("one"), `schema version is "one"`},
		"no schema":               {schema(""), `schema version is ""`},
		"no plants":               {edited(t, func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte(plantsBucket)) }), "not of a plant store"},
		"cut to the meta pages":   {written(t, m.file[:2*size]), "has been cut short, to"},
		"cut by one byte in use":  {written(t, m.file[:int(m.end)*size-1]), "has been cut short, to"},
		"another page size":       {m.write(number{1, metaPageSize, uint64(2 * size)}).save(t), "has a corrupt meta page"},
		"both meta pages corrupt": {m.write(inMetas(magic, 0)...).save(t), "its beginning is corrupt"},
		"other byte order":        {m.write(inMetas(magic, uint64(bits.ReverseBytes32(metaMagic)))...).save(t), "is of a machine with another byte order: export its plants there"},
		"root page of no type":    {m.write(number{m.root, pageFlags, 0}).save(t), "is corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := snapshot(t, test.path)
			for range 2 { // the first attempt must not affect the second
				s, err := openTest(storage.Options{}, test.path)
				if err == nil {
					_ = s.Close()
				}
				wantLine(t, test.path, err, test.want)
			}
			if after := snapshot(t, test.path); !bytes.Equal(before, after) {
				t.Error("the file has been changed")
			}
			must.Do(t, must.Get(lock(test.path))(t)()) // it is not locked any more
		})
	}
}

// snapshot returns the content of a file.
func snapshot(t *testing.T, path string) []byte {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return b
}

// written returns the path of a file with this content.
func written(t *testing.T, content []byte) (path string) {
	t.Helper()
	path = newPath(t)
	must.Do(t, os.WriteFile(path, content, filePerm))
	return path
}

// foreign returns the path of a bbolt database of another program.
func foreign(t *testing.T, options *bolt.Options) (path string) {
	t.Helper()
	path = newPath(t)
	db := must.Get(bolt.Open(path, filePerm, options))(t)
	err := db.Update(func(tx *bolt.Tx) error {
		_, err := tx.CreateBucket([]byte("key"))
		return err
	})
	must.Do(t, errors.Join(err, db.Close()))
	return path
}

// edited returns the path of a closed store that was changed.
func edited(t *testing.T, change func(tx *bolt.Tx) error) (path string) {
	t.Helper()
	path = newFile(t, 1)
	edit(t, path, change)
	return path
}

// TestOpenRacing lets several create a file and its directories: one opens it, the others find it locked, and
// all of them use the same file.
func TestOpenRacing(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "my plants", "100%.db")
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
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != filePerm {
		t.Errorf("Stat = %v, %v, want a file of mode %v", info, err, fs.FileMode(filePerm))
	}
}

// TestLockedBeforeRead checks that a file that another process changes is locked, not corrupt.
func TestLockedBeforeRead(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	file := must.Get(os.OpenFile(path, os.O_RDWR, 0))(t)
	defer func() { _ = file.Close() }()
	must.Do(t, lockFile(file, true))
	must.Get(file.WriteAt(make([]byte, os.Getpagesize()), 0))(t)
	if _, err := openTest(storage.Options{ReadOnly: true}, path); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("open: %v, want: %v", err, storage.ErrLocked)
	}
}
