package bbolt

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/storage"
)

// A refusalError says what a file is that cannot be opened, and what can be
// done. The name of the file goes before it.
type refusalError struct {
	text    string
	damaged bool // it is, or was, a store of ours
}

func (e refusalError) Error() string { return e.text }

func refusal(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...)}
}

// broken is a refusal of a store that is not whole.
func broken(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...), damaged: true}
}

// damage returns err, or a *DamageError if it is the refusal of a damaged store.
func damage(err error) error {
	if refused, ok := errors.AsType[refusalError](err); ok && refused.damaged {
		return &DamageError{storage.Report{Damage: []string{err.Error()}}}
	}
	return err
}

// explain turns what kept the file path from being opened into one line.
func explain(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = cmp.Or(refuseOrphan(path), err)
	case errors.Is(err, bolterrors.ErrChecksum), errors.Is(err, bolterrors.ErrInvalid):
		err = broken("is damaged (%v): restore a backup", err)
	}
	var refused refusalError
	switch {
	case errors.As(err, &refused):
		return fmt.Errorf("database %s %w", path, refused)
	case errors.Is(err, bolterrors.ErrTimeout):
		return fmt.Errorf("database %s is %w: stop that one, or name another file", path, storage.ErrLocked)
	case errors.Is(err, bolterrors.ErrVersionMismatch):
		return fmt.Errorf("database %s is of another version of bbolt (%w): name another file", path, err)
	}
	return fmt.Errorf("database %s cannot be opened: %w", path, withoutPath(path, err))
}

// explainCreate is explain for a file that could not be made.
func explainCreate(path string, err error) error {
	if _, refused := errors.AsType[refusalError](err); refused {
		return explain(path, err)
	}
	return fmt.Errorf("create database %s: %w", path, withoutPath(path, err))
}

// withoutPath returns err without the path, which need not be said twice.
func withoutPath(path string, err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == path {
		return failure.Err
	}
	return err
}

// An openFunc opens a file as [os.OpenFile] does.
type openFunc func(name string, flag int, perm fs.FileMode) (*os.File, error)

// openExisting is an openFunc that creates nothing.
func openExisting(name string, flag int, perm fs.FileMode) (*os.File, error) {
	info, err := os.Stat(name) //nolint:gosec // the operator names the database
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, refusal("is a directory: name a file in it")
	case !info.Mode().IsRegular(): // opening a pipe would wait for its other end
		return nil, refusal("is not a regular file: name another one")
	}
	return os.OpenFile(name, flag&^os.O_CREATE, perm) //nolint:gosec // the operator names the database
}

// inspected returns what bbolt opens its file with. It refuses a file that bbolt could
// not map into memory without harm: reading beyond the end of a mapped file kills the
// process.
func inspected(open openFunc) openFunc {
	return func(name string, flag int, perm fs.FileMode) (*os.File, error) {
		file, err := open(name, flag, perm)
		if err != nil {
			return nil, err
		}
		if err := inspect(file); err != nil {
			return nil, errors.Join(err, file.Close())
		}
		return file, nil
	}
}

// inspect finds out whether file is a bbolt file, and all of it there. Another
// process may be writing to it; it makes a file longer before it says so in a
// meta page.
func inspect(file *os.File) error {
	newest, found := newestMeta(file)
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case info.Size() == 0:
		return broken("is empty, which a plant store's never is: restore a backup, or name another file")
	case !found:
		return broken("is not a plant store's, or is damaged at its beginning: name another file, or restore a backup")
	case info.Size() < newest.pages*newest.pageSize:
		return broken("has been cut short, from at least %d bytes to %d: restore a backup",
			newest.pages*newest.pageSize, info.Size())
	}
	return nil
}
