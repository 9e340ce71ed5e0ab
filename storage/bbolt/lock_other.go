//go:build !unix

package bbolt

import (
	"errors"
	"os"

	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/storage"
)

// lock refuses a database that another process has open. It does not prevent others from opening
// it later: an open file could not be replaced here. Its errors are those of opening it, for
// [explain].
func lock(path string) (unlock func() error, err error) {
	file, err := openExisting(path, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	_ = file.Close() // nothing was written
	e, err := open(path, true)
	if err == nil {
		err = e.Close()
	}
	if errors.Is(err, storage.ErrLocked) {
		return nil, bolterrors.ErrTimeout
	}
	return func() error { return nil }, nil // a corrupt one may be replaced
}
