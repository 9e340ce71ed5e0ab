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
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/durable"
	"plantstore/storage"
)

// compactBytes bounds a transaction of [Compact], and so its memory.
const compactBytes = 8 << 20

// keptSuffix is put after the name of the database, and the time after that, for
// what [Restore] has replaced.
const keptSuffix = ".replaced-"

// A DamageError says that a file which was to be put in place is damaged, or the one
// that was to be replaced by a compact one.
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
		return 0, damage(err)
	}
	report, err := s.Check(ctx, nil)
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
// Nor is one that appears only meanwhile: the error matches [fs.ErrExist].
// At whatever moment the process dies, one of the two databases is at path, whole;
// but where there are no hard links, the old one may be under the name kept alone.
func Restore(ctx context.Context, path, backup string) (plants int64, kept string, err error) {
	source, err := OpenReadOnly(backup) // nobody writes to it from now on
	if err != nil {
		return 0, "", damage(err)
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	if err := source.wantMark(); err != nil {
		return 0, "", err
	}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target // a second name for the link would not keep what it leads to
	}
	fill := func(tmp string) (err error) {
		plants, err = copyWhole(ctx, tmp, backup)
		return err
	}
	unlock, err := lock(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = create(path, fill)
		return plants, "", err
	}
	if err != nil {
		return 0, "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	kept, err = exchange(path, durable.Replace, os.Link, fill)
	return plants, kept, err
}

// create puts what fill writes at path, where nothing was.
func create(path string, fill func(tmp string) error) error {
	if err := durable.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	err := durable.Create(path, filePerm, fill)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: it was made meanwhile, and stays as it is", err)
	}
	return err
}

// exchange puts what fill writes in the place of the file path, as put does, which
// is [durable.Replace], and keeps that file by link, which is [os.Link].
func exchange(
	path string,
	put func(path string, perm fs.FileMode, write func(tmp string) error) error,
	link func(from, to string) error,
	fill func(tmp string) error,
) (kept string, err error) {
	err = put(path, filePerm, func(tmp string) (err error) {
		if err := fill(tmp); err != nil {
			return err
		}
		kept, err = keep(path, link)
		return err
	})
	if err != nil && kept != "" {
		err = errors.Join(err, putBack(kept, path))
	}
	return kept, err
}

// copyWhole makes the empty file tmp a copy of the store backup with an id of its
// own, if it is whole, and returns how many plants it has.
func copyWhole(ctx context.Context, tmp, backup string) (plants int64, err error) {
	if err := copyFile(ctx, tmp, backup); err != nil {
		return 0, err
	}
	if plants, err = Check(ctx, tmp); err != nil {
		return 0, err
	}
	return plants, renew(tmp)
}

// MayReplace returns an error if a copy must not take the place of the file path:
// it is a store, since a mark lies beside it, or such a mark, or another process has
// it open. A
// copy of a store that nobody has written to may be replaced, as may other files.
func MayReplace(path string) error {
	names := []string{path}
	if target, err := filepath.EvalSymlinks(path); err == nil {
		names = append(names, target)
	}
	for _, name := range names {
		if exists(MarkPath(name)) {
			return fmt.Errorf("%s is the database of a store, as %s beside it shows: name another file", path, MarkPath(name))
		}
		if strings.HasSuffix(name, markSuffix) && exists(name) {
			return fmt.Errorf("%s is the mark of a store: name another file", path)
		}
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // opening a pipe would wait for its other end
		return nil //nolint:nilerr // whoever writes to it will tell
	}
	unlock, err := lock(path)
	switch {
	case errors.Is(err, storage.ErrLocked):
		return fmt.Errorf("%s is %w: name another file", path, storage.ErrLocked)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	return unlock()
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
		return 0, 0, damage(err)
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
	report, err := s.Check(ctx, nil) // nobody writes to it
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
	file, err := os.OpenFile(path, os.O_RDWR, 0) //nolint:gosec // the operator names the file
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
	in, err := os.Open(from) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }()           // it was only read
	out, err := os.OpenFile(to, os.O_WRONLY, 0) //nolint:gosec // the operator names the file
	if err != nil {
		return err
	}
	_, err = io.Copy(&cancelWriter{ctx: ctx, w: out}, in)
	return errors.Join(err, out.Close())
}

// keep gives the file path a second name beside it. Where link fails, since there
// are no hard links, path loses its first, until another file or [putBack] takes it.
func keep(path string, link func(from, to string) error) (kept string, err error) {
	name := path + keptSuffix + time.Now().UTC().Format("20060102T150405Z")
	kept = name
	for n := 2; exists(kept); n++ {
		kept = fmt.Sprintf("%s-%d", name, n)
	}
	if link(path, kept) == nil {
		return kept, nil
	}
	return kept, os.Rename(path, kept)
}

// putBack gives the file kept the name path again, if nothing has it.
func putBack(kept, path string) error {
	if exists(path) {
		return nil
	}
	return errors.Join(os.Rename(kept, path), durable.SyncDir(filepath.Dir(path)))
}

// exists reports whether there is anything of that name, or may be.
func exists(name string) bool {
	_, err := os.Lstat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
