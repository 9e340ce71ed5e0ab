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
// It fails if another user could redirect what is written: one who owns a symbolic link on the path,
// or, if the process is root, a directory.
func MkdirAll(dir string, perm fs.FileMode) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	first := path // whose parent exists
	for parent := filepath.Dir(first); missing(parent); parent = filepath.Dir(first) {
		first = parent
	}
	if err := checkPath(path); err != nil {
		return err
	}
	if err := os.MkdirAll(path, perm); err != nil {
		return err
	}
	if err := checkPath(path); err != nil { // another user may have created the rest meanwhile
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

// isForeign reports whether what belongs to the user uid belongs to neither root nor the user of this
// process.
func isForeign(uid int) bool { return uid != 0 && uid != os.Geteuid() }

// checkPath returns an error if another user could redirect what is written to dir, as [MkdirAll]
// says. It checks what exists of the path, and of the targets of links.
func checkPath(dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	parent := filepath.Dir(dir)
	if parent != dir {
		if err := checkPath(parent); err != nil {
			return err
		}
	}
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) { // nothing can be written there, either
		return nil
	}
	if err == nil {
		err = checkElement(dir, info)
	}
	if err != nil || info.Mode().Type() != fs.ModeSymlink {
		return err
	}
	if _, err := os.Stat(dir); err != nil && !errors.Is(err, fs.ErrPermission) {
		return nil // without a target, or a loop: the first use fails
	} // Linux may permit nobody to follow a link on the way that is another user's
	target, err := os.Readlink(dir)
	if err == nil && !filepath.IsAbs(target) {
		parent, err = filepath.EvalSymlinks(parent)
		target = filepath.Join(parent, target)
	}
	if err != nil {
		return err
	}
	return checkPath(target)
}

// checkElement rejects a symbolic link of a user other than root and the user of this process, and,
// if that is root, a directory.
func checkElement(path string, info fs.FileInfo) error {
	uid, _, known := ownerOf(info)
	isLink := info.Mode().Type() == fs.ModeSymlink
	if !known || !isForeign(uid) || !isLink && os.Geteuid() != 0 {
		return nil
	}
	name, sudo := strconv.Itoa(uid), fmt.Sprintf("'#%d'", uid)
	if account, err := user.LookupId(name); err == nil {
		name, sudo = account.Username, account.Username
	}
	if isLink {
		return fmt.Errorf("%s is a symbolic link of the user %s, who could redirect what is written there: name its target instead", path, name)
	}
	return fmt.Errorf("root must not write to %s, which belongs to the user %s: run this command as that user, with sudo -u %s plantstore …", path, name, sudo)
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
