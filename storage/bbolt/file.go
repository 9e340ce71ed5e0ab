package bbolt

import (
	"errors"
	"io/fs"
	"os"
	"time"

	bolt "go.etcd.io/bbolt"
)

const (
	filePerm    = 0o600
	dirPerm     = 0o750
	lockTimeout = time.Second
)

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
		return corrupt("is not the file of a plant store, or its beginning is corrupt")
	case info.Size() > maxFile:
		return refusal("has %d MiB, and the limit of a 32-bit system is %d MiB: open it on a 64-bit one", info.Size()>>20, maxFile>>20)
	case uint64(info.Size())/uint64(newest.PageSize) < newest.Pages:
		return corrupt("has been cut short, to %d bytes of at least %d pages of %d", info.Size(), newest.Pages, newest.PageSize)
	case writable && !bothMetas(file, newest):
		return corrupt("has a corrupt meta page, and may lack its last commit")
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
