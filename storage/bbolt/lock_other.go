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
// [fs.ErrNotExist]; if it is not a regular file, the error is a [refusalError].
func lock(path string) (unlock func() error, err error) {
	var openErr error
	e, err := open(path, true, func(name string, flag int, perm fs.FileMode) (file *os.File, err error) {
		file, openErr = openExisting(name, flag, perm)
		return file, openErr
	})
	if err == nil {
		err = e.Close()
	}
	switch {
	case errors.Is(openErr, fs.ErrNotExist), errors.As(openErr, new(refusalError)):
		return nil, lockError(path, openErr) // err may be about the watermark
	case errors.Is(err, storage.ErrLocked):
		return nil, err
	}
	return func() error { return nil }, nil // a corrupt one may be replaced
}

// setBlocking returns nil: opening a file never waits here.
func setBlocking(*os.File) error { return nil }
