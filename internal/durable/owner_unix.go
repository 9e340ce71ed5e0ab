//go:build unix

package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// keepOwner gives the file tmp, if root has made it, to the owner of path or, if
// that does not exist, of its folder.
func keepOwner(tmp, path string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(path) //nolint:gosec // the operator names the file
	if errors.Is(err, fs.ErrNotExist) {
		info, err = os.Stat(filepath.Dir(path)) //nolint:gosec // the operator names the file
	}
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	return os.Chown(tmp, int(owner.Uid), int(owner.Gid)) //nolint:gosec // the operator names the file
}
