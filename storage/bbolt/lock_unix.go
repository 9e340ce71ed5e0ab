//go:build unix

package bbolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"plantstore/storage"
)

// lock keeps all others from opening the database path, as bbolt does, whether it
// is whole or not. It does nothing if there is no file.
func lock(path string) (unlock func() error, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		err = fmt.Errorf("database %s is %w: stop that one first", path, storage.ErrLocked)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}
