package journal

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes earlier writes to file durable. The size of a journal never changes, so
// that its metadata need not be synced.
func syncData(file *os.File) (err error) {
	for err = unix.EINTR; errors.Is(err, unix.EINTR); {
		err = unix.Fdatasync(int(file.Fd()))
	}
	return err
}
