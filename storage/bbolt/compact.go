package bbolt

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/atomicfile"
	"plantstore/storage"
)

// compactBytes bounds a transaction of [Compact], and so its memory.
const compactBytes = 8 << 20

// Compact writes the database path anew, without the room that it no longer needs,
// and returns its sizes in bytes. It must be open nowhere. The new file replaces
// the old one when it is checked and has all its plants.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, explain(path, err)
	}
	s, err := openWritable(path, storage.Options{})
	if err != nil {
		return 0, 0, damage(err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = atomicfile.Replace(path, filePerm, func(file *atomicfile.File) error {
		if err := s.compactTo(ctx, file); err != nil {
			return err
		}
		compact, err := file.Stat()
		if err != nil {
			return err
		}
		after = compact.Size()
		if runtime.GOOS == "windows" { // which replaces no open file
			return s.Close()
		}
		return nil
	})
	return info.Size(), after, err
}

// compactTo makes an empty file a compact copy of the store.
func (e *Engine) compactTo(ctx context.Context, file *atomicfile.File) error {
	report, err := e.Check(ctx, nil) // nobody writes to it
	if err != nil {
		return err
	}
	if !report.Whole() {
		return &DamageError{report}
	}
	// All of the file is synced before it is published.
	db, err := bolt.Open(file.Name(), filePerm, &bolt.Options{Timeout: lockTimeout, NoSync: true, OpenFile: file.OpenFile})
	if err != nil {
		return err
	}
	if err := errors.Join(bolt.Compact(db, e.db, compactBytes), db.Close(), ctx.Err()); err != nil {
		return err
	}
	if err := errors.Join(renew(file, nil), trim(file)); err != nil {
		return err
	}
	plants, err := Check(ctx, file)
	if err == nil && plants != report.Plants {
		err = fmt.Errorf("the compact copy has %d plants, the database %d", plants, report.Plants)
	}
	return err
}

// trim cuts off what a file has beyond its last page.
func trim(file *atomicfile.File) error {
	newest, found := newestMeta(file.File)
	if !found { // a check will report it
		return nil
	}
	return file.Truncate(newest.pages * newest.pageSize)
}
