//go:build unix

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestLinkError checks that an error about a file system without hard links names the cause and
// the remedy.
func TestLinkError(t *testing.T) {
	t.Parallel()
	for cause, want := range map[syscall.Errno]string{
		syscall.EPERM:   "create plants.db: the file system may have no hard links (operation not permitted); use a directory on another one",
		syscall.ENOSYS:  "create plants.db: the file system may have no hard links (function not implemented); use a directory on another one",
		syscall.ENOTSUP: "create plants.db: the file system may have no hard links (",
		syscall.EACCES:  "create plants.db: permission denied",
		syscall.EEXIST:  "create plants.db: file exists",
	} {
		err := linkError("plants.db", &os.LinkError{Op: "linkat", Old: "tmp", New: "plants.db", Err: cause})
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v: %q, want %q", cause, err, want)
		}
		if errors.Is(err, fs.ErrExist) != (cause == syscall.EEXIST) || errors.Is(err, fs.ErrPermission) != (cause == syscall.EACCES) {
			t.Errorf("%v: ErrExist %t, ErrPermission %t", cause, errors.Is(err, fs.ErrExist), errors.Is(err, fs.ErrPermission))
		}
	}
}
