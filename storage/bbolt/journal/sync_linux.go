package journal

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Sync makes earlier writes durable. The size of a journal never changes, so that its
// metadata need not be synced.
func (f dataFile) Sync() (err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fdatasync(int(f.Fd()))
	}
	return err
}
