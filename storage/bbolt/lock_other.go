//go:build !unix

package bbolt

import (
	"errors"
	"io/fs"
	"os"

	"plantstore/storage"
)

// lock refuses a database that another process has open. It cannot keep others
// out, since an open file could not be replaced here.
func lock(path string) (unlock func() error, err error) {
	nothing := func() error { return nil }
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nothing, nil
	}
	s, err := OpenReadOnly(path)
	if err == nil {
		err = s.Close()
	}
	if errors.Is(err, storage.ErrLocked) {
		return nil, err
	}
	return nothing, nil // one that is damaged may be replaced
}
