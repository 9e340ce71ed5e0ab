//go:build !unix

package bbolt

import (
	"errors"
	"io/fs"
	"os"

	"plantstore/storage"
)

// lock refuses a database that another process has open. It does not prevent others from opening
// it later: an open file could not be replaced here. If there is no file the error matches
// [fs.ErrNotExist].
func lock(path string) (unlock func() error, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	e, err := open(path, true, openExisting)
	if err == nil {
		err = e.Close()
	}
	if errors.Is(err, storage.ErrLocked) {
		return nil, err
	}
	return func() error { return nil }, nil // a corrupt one may be replaced
}
