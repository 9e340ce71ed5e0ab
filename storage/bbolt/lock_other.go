//go:build !unix

package bbolt

import (
	"errors"
	"io/fs"
	"os"

	"plantstore/storage"
)

// lock refuses a database that another process has open. It cannot keep others
// out, since an open file could not be replaced here. If there is no file the error
// matches [fs.ErrNotExist].
func lock(path string) (unlock func() error, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s, err := openReadOnly(path, openExisting)
	if err == nil {
		err = s.Close()
	}
	if errors.Is(err, storage.ErrLocked) {
		return nil, err
	}
	return func() error { return nil }, nil // one that is damaged may be replaced
}
