package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
)

// MkdirAll creates a directory of this program's files, and its missing parents, with the mode perm.
// When it returns nil, the directory survives a power failure. The entry of an existing directory is
// synced as well, since its creator may have died before doing so.
//
// It fails if the process is root and another user owns the directory: that user could redirect what
// root writes.
func MkdirAll(dir string, perm fs.FileMode) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	first := path // whose parent exists
	for parent := filepath.Dir(first); missing(parent); parent = filepath.Dir(first) {
		first = parent
	}
	if err := os.MkdirAll(path, perm); err != nil {
		return err
	}
	if err := refuseRoot(path); err != nil {
		return err
	}
	for ; ; path = filepath.Dir(path) {
		err := SyncDir(filepath.Dir(path))
		if err != nil && !errors.Is(err, fs.ErrPermission) { // it may not be readable
			return err
		}
		if path == first {
			return nil
		}
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// refuseRoot returns an error if the process is root and dir belongs to another user.
func refuseRoot(dir string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	uid, _, known := ownerOf(info)
	if !known || uid == 0 || os.Geteuid() != 0 {
		return nil
	}
	name, sudo := strconv.Itoa(uid), fmt.Sprintf("'#%d'", uid)
	if account, err := user.LookupId(name); err == nil {
		name, sudo = account.Username, account.Username
	}
	return fmt.Errorf("root must not write to %s, which belongs to the user %s: run this command as that user, with sudo -u %s plantstore …", dir, name, sudo)
}

// SyncDir makes the names in dir durable. It is a no-op where directories cannot be
// synced: on Windows, and on file systems that reject the call.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
