package bbolt

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/durable"
	"plantstore/storage"
)

// compactBytes bounds a transaction of [Compact], and so its memory.
const compactBytes = 8 << 20

// A DamageError says that a file which was to be put in place is damaged.
type DamageError struct {
	Report storage.Report
}

// Error says how much is damaged.
func (e *DamageError) Error() string {
	return fmt.Sprintf("it is damaged: %d findings", int64(len(e.Report.Damage))+e.Report.More)
}

// Check reads the store in the file path as [Store.Check] does, and returns a
// *DamageError if it is not whole, else how many plants it has.
func Check(ctx context.Context, path string) (plants int64, err error) {
	s, err := OpenReadOnly(path)
	if err != nil {
		return 0, err
	}
	report, err := s.Check(ctx)
	if err := errors.Join(err, s.Close()); err != nil {
		return 0, err
	}
	if !report.Whole() {
		return 0, &DamageError{report}
	}
	return report.Plants, nil
}

// Restore puts a copy of the file backup in the place of the database path, if all
// of it is whole; else it returns a *DamageError. The copy gets an id of its own:
// the mark of what was there before means nothing to it. What was there stays
// under the name kept, which is empty if there was nothing. A database that
// another process has open is not touched: the error matches [storage.ErrLocked].
// At whatever moment the process dies, one of the two databases is at path, whole.
func Restore(ctx context.Context, path, backup string) (plants int64, kept string, err error) {
	source, err := OpenReadOnly(backup) // nobody writes to it from now on
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.wantMark(); err != nil {
		return 0, "", err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a second name for the link would not keep what it leads to
	}
	unlock, err := lock(path)
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := durable.MkdirAll(filepath.Dir(path)); err != nil {
		return 0, "", err
	}
	err = durable.Replace(path, filePerm, func(tmp string) error {
		if err := copyFile(ctx, tmp, backup); err != nil {
			return err
		}
		if plants, err = Check(ctx, tmp); err != nil {
			return err
		}
		if err := renew(tmp); err != nil {
			return err
		}
		kept, err = keep(path)
		return err
	})
	return plants, kept, err
}

// wantMark returns a *DamageError if the store lacks commits that its mark knows of.
func (s *Store) wantMark() error {
	var report storage.Report
	if err := s.checkMark(&report); err != nil || report.Whole() {
		return err
	}
	return &DamageError{report}
}

// Compact writes the database path anew, without the room that it no longer needs,
// and returns its sizes in bytes. It must be open nowhere. The new file replaces
// the old one when it is checked and has all its plants.
func Compact(ctx context.Context, path string) (before, after int64, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, 0, explain(path, err)
	}
	s, err := Open(path) //nolint:contextcheck // what it starts ends with the store
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	err = durable.Replace(path, filePerm, func(tmp string) error {
		if err := s.compactTo(ctx, tmp); err != nil {
			return err
		}
		compact, err := os.Stat(tmp)
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

// compactTo makes the empty file tmp a compact copy of the store.
func (s *Store) compactTo(ctx context.Context, tmp string) error {
	report, err := s.Check(ctx) // nobody writes to it
	if err != nil {
		return err
	}
	if !report.Whole() {
		return &DamageError{report}
	}
	// All of tmp is synced before it is put in place.
	db, err := bolt.Open(tmp, filePerm, &bolt.Options{Timeout: lockTimeout, NoSync: true})
	if err != nil {
		return err
	}
	if err := errors.Join(bolt.Compact(db, s.db, compactBytes), db.Close(), ctx.Err()); err != nil {
		return err
	}
	if err := errors.Join(renew(tmp), trim(tmp)); err != nil {
		return err
	}
	plants, err := Check(ctx, tmp)
	if err == nil && plants != report.Plants {
		err = fmt.Errorf("the compact copy has %d plants, the database %d", plants, report.Plants)
	}
	return err
}

// renew gives the store in a file an id of its own, since its transactions are
// not those that the mark beside it has counted.
func renew(path string) error {
	db, err := bolt.Open(path, filePerm, &bolt.Options{Timeout: lockTimeout, FreelistType: bolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(metaBucket)).Put([]byte(idKey), newID())
	})
	return errors.Join(err, db.Close())
}

// trim cuts off what a file has beyond its last page.
func trim(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	newest, found := newestMeta(file)
	if found { // else a check will tell
		err = file.Truncate(newest.pages * newest.pageSize)
	}
	return errors.Join(err, file.Close())
}

// newID returns an id for a database.
func newID() []byte {
	id := make([]byte, idLen)
	_, _ = rand.Read(id) // never fails
	return hex.AppendEncode(nil, id)
}

// copyFile copies the file from into the existing file to.
func copyFile(ctx context.Context, to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = io.Copy(&cancelWriter{ctx: ctx, w: out}, in)
	return errors.Join(err, out.Close())
}

// keep gives the file path, if it is there, a second name beside it. Where there
// are no hard links it loses its first.
func keep(path string) (kept string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	name := path + ".replaced-" + time.Now().UTC().Format("20060102T150405Z")
	for n := 2; ; n++ {
		kept = name
		if n > 2 {
			kept = fmt.Sprintf("%s-%d", name, n-1)
		}
		err = os.Link(path, kept)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = os.Rename(path, kept)
		}
		if !errors.Is(err, fs.ErrExist) {
			return kept, err
		}
	}
}
