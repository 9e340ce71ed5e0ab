package bbolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/internal/files"
	"plantstore/storage"
)

const (
	filePerm    = 0o600
	dirPerm     = 0o750
	lockTimeout = time.Second
)

// A refusalError is the reason why a file cannot be opened, with a remedy. It follows the
// name of the file.
type refusalError struct {
	text    string
	corrupt bool // it is a corrupt plant store, or not a plant store
}

func (e refusalError) Error() string { return e.text }

func refusal(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...)}
}

func corrupt(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...), corrupt: true}
}

// explain returns a one-line error for the error of opening the file path, a
// *CorruptStoreError if it is corrupt.
func explain(path string, err error) error {
	if refused, ok := errors.AsType[refusalError](err); ok {
		line := fmt.Sprintf("database %s %s", path, refused.text)
		if refused.corrupt {
			return &CorruptStoreError{storage.Report{Corruption: []string{line}}}
		}
		return errors.New(line)
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("database %s is %w: try again when that has ended, or name another file", path, storage.ErrLocked)
	}
	if errors.Is(err, syscall.ENOMEM) {
		return fmt.Errorf("database %s cannot be mapped into memory: raise the limit of address space of this process (ulimit -v, LimitAS=)", path)
	}
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == path {
		err = files.Reason(err)
	}
	return fmt.Errorf("database %s cannot be opened: %w", path, err)
}

// openExisting is [os.OpenFile] for a regular file, which it never creates.
func openExisting(name string, flag int, perm fs.FileMode) (*os.File, error) {
	info, err := os.Stat(name) // opening a pipe would wait for its other end
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, refusal("is a directory: name a file in it")
	case !info.Mode().IsRegular():
		return nil, refusal("is not a regular file: name another one")
	}
	return os.OpenFile(name, flag&^os.O_CREATE, perm)
}

// inspect returns a refusal unless file is a complete bbolt file: reading beyond the end
// of a mapped file kills the process. Another process may be writing to it: that extends
// the file before a meta page has the new size.
//
// To be written to, a file must have two intact meta pages: bbolt silently ignores a corrupt one, and
// with it perhaps the last commit.
func inspect(file *os.File, writable bool) error {
	newest, found := newestMeta(file)
	info, err := file.Stat()
	switch {
	case err != nil:
		return err
	case !found && otherByteOrder(file):
		return refusal("is of a machine with another byte order: export its plants there (plantstore plants export), and import the export here")
	case !found:
		return corrupt("is not the file of a plant store, or its beginning is corrupt: name another file, or restore a backup")
	case info.Size() > maxFile:
		return refusal("has %d MiB, and the limit of a 32-bit system is %d MiB: open it on a 64-bit one", info.Size()>>20, maxFile>>20)
	case uint64(info.Size())/uint64(newest.PageSize) < newest.Pages:
		return corrupt("has been cut short, to %d bytes of at least %d pages of %d: restore a backup", info.Size(), newest.Pages, newest.PageSize)
	case writable && !bothMetas(file, newest):
		return corrupt("has a corrupt meta page, and may lack its last commit: run plantstore check, then restore a backup")
	}
	return nil
}

// editFile commits a transaction to a temporary file.
func editFile(file *os.File, edit func(tx *bolt.Tx) error) error {
	db, err := bolt.Open(file.Name(), filePerm, &bolt.Options{Timeout: lockTimeout})
	if err != nil {
		return err
	}
	return errors.Join(db.Update(edit), db.Close())
}

// verifyFile returns an error that matches [storage.ErrCorrupt] if the database file was removed,
// replaced or cut short: later writes to the open file would be lost, and a restart would begin with an
// empty database.
func (e *Engine) verifyFile() error {
	const gone = "%w: its file was removed or replaced while it was open"
	least := e.size.Load() // before the stat: the file may grow at any time
	there, err := os.Stat(e.path)
	switch {
	case err != nil:
		return fmt.Errorf(gone+": %w", storage.ErrCorrupt, err)
	case !os.SameFile(there, e.opened):
		return fmt.Errorf(gone, storage.ErrCorrupt)
	case there.Size() < least:
		return fmt.Errorf("%w: its file was cut short, from %d bytes to %d, while it was open", storage.ErrCorrupt, least, there.Size())
	}
	return nil
}

// resyncMeta rewrites and syncs both meta pages as they are, before anything else is written:
// after a sync that failed, the cache of the operating system has a meta page that the disk may
// lack. A commit on top of it would overwrite pages that the disk still needs.
func resyncMeta(file *os.File, pageSize int64) error {
	pages := make([]byte, 2*pageSize)
	if _, err := file.ReadAt(pages, 0); err != nil {
		return err
	}
	if _, err := file.WriteAt(pages, 0); err != nil {
		return err
	}
	return file.Sync()
}
