package bbolt

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"plantstore/internal/files"
	"plantstore/storage"
)

// keptTime is the name of a replaced database after its path, which [Restore] keeps.
const keptTime = ".replaced-20060102T150405.000Z"

// Restore replaces the database path by a copy of the file backup, if that is intact; else
// it returns a *CorruptStoreError. The replaced database stays under the
// name kept, which is empty if there was none. A database that another process has open is not
// touched: the error matches [storage.ErrLocked]. Nor is one that is created meanwhile: the error
// matches [fs.ErrExist]. Whenever the process dies, one of the two databases is at path, intact.
func Restore(ctx context.Context, path, backup string) (plants int64, kept string, err error) {
	source, err := open(ctx, backup, storage.Options{ReadOnly: true}) // its lock prevents writes
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a link itself cannot be kept
	}
	fill := func(file *os.File) (err error) {
		if err := source.Snapshot(ctx, file); err != nil {
			return err
		}
		plants, err = Check(ctx, file)
		return err
	}
	unlock, err := lock(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err = files.MkdirAll(filepath.Dir(path), dirPerm); err == nil {
			err = files.Create(path, fill)
		}
		return plants, "", err
	}
	if err != nil {
		return 0, "", explain(path, err)
	}
	defer func() { err = errors.Join(err, unlock()) }()
	err = files.CreateOutput(path, true, func(file *os.File) (err error) {
		// A server that starts after a crash changes the database under both of its
		// names. So it gets the second one last, after all syncs.
		if err := fill(file); err != nil {
			return err
		}
		if err := file.Sync(); err != nil {
			return err
		}
		kept = path + time.Now().UTC().Format(keptTime)
		return os.Link(path, kept)
	})
	return plants, kept, err
}

// Check reads the store in a file as [storage.Store.Check] does. It returns the number of plants,
// or a *CorruptStoreError if the store is not intact.
func Check(ctx context.Context, file *os.File) (plants int64, err error) {
	e, err := open(ctx, file.Name(), storage.Options{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	report, err := e.Check(ctx)
	if err == nil && !report.Intact() {
		err = &CorruptStoreError{report}
	}
	return report.Plants, errors.Join(err, e.Close())
}

// lock prevents other processes from opening the database path, intact or not, until unlock is called.
// Its errors are those of opening it, for [explain].
func lock(path string) (unlock func() error, err error) {
	file, err := openExisting(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	if err := lockFile(file, true); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	if runtime.GOOS == "windows" { // which could not replace an open file
		return func() error { return nil }, file.Close()
	}
	return file.Close, nil
}

// MayReplace returns an error if the file path exists and an output must not replace it: it is a
// database, which a backup is too, or not a regular file.
func MayReplace(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file: name another one", path)
	}
	file, err := openExisting(path, os.O_RDONLY)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // opened for reading
	if _, intact := newestMeta(file); intact > 0 {
		return fmt.Errorf("%s is a database or a backup, which is never replaced: name another file", path)
	}
	return nil
}
