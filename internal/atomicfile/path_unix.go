//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// maxLinks limits the symbolic links of a path, as Linux does (path_resolution(7)).
const maxLinks = 40

// OpenFile is [os.OpenFile] for writing. Its rules prevent another user of the machine
// from redirecting the write to another file:
//
//   - For root, every directory of the path must belong to root, and only root may write
//     to it unless it is sticky, as /tmp is. Otherwise its owner could swap a name at any
//     time.
//   - In a world-writable directory, a symbolic link is followed and an
//     existing file opened only if it belongs to the caller or to the owner of the
//     directory. Linux has the same rules, fs.protected_symlinks and fs.protected_regular,
//     but they may be off.
//   - A link that replaces the last name meanwhile is not followed.
//
// [Create], [Replace] and [MkdirAll] have the same rules.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	target, err := resolve(path)
	if err != nil {
		return nil, pathError("open", path, err)
	}
	if isDescriptor(target) {
		return os.OpenFile(target, flag&^os.O_CREATE, 0) //nolint:gosec // the operator names the file
	}
	file, err := os.OpenFile(target, flag|syscall.O_NOFOLLOW, perm) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, pathError("open", path, err)
	}
	if err := checkFile(file, target); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// Check returns an error if [OpenFile] refuses path, which need not exist.
func Check(path string) error {
	_, err := resolve(path)
	return err
}

// resolve returns path without symbolic links, or an error if it must not be written to.
// The last name may be missing.
//
// For root it starts at the root directory and admits only directories that no other
// user can change, so the result remains valid.
func resolve(path string) (string, error) {
	if os.Geteuid() == 0 {
		abs, err := filepath.Abs(path)
		if err != nil {
			return "", err
		}
		path = abs
	}
	at, names := start(path), strings.Split(path, "/")
	for links := 0; len(names) > 0; {
		name := names[0]
		names = names[1:]
		if name == "" || name == "." || name == ".." {
			at = filepath.Join(at, name) // correct for "..", too, since at contains no symbolic links
			continue
		}
		dir, err := os.Stat(at)
		if err == nil {
			err = checkDir(at, dir)
		}
		if err != nil {
			return "", err
		}
		next := filepath.Join(at, name)
		info, err := os.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist) && len(names) == 0:
			return next, nil
		case err != nil:
			return "", err
		case info.Mode().Type() != fs.ModeSymlink || isDescriptor(next):
			at = next
			continue
		}
		if links++; links > maxLinks {
			return "", &fs.PathError{Op: "open", Path: path, Err: syscall.ELOOP}
		}
		if !trusted(dir, info) {
			return "", fmt.Errorf("the symbolic link %s belongs to %s, in a world-writable directory, and is not followed: "+
				"remove it, or name another file", next, userName(ownerOf(info)))
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", err
		}
		if strings.HasPrefix(target, "/") {
			at = "/"
		}
		names = append(strings.Split(target, "/"), names...)
	}
	return at, nil
}

// start returns the directory where a path starts.
func start(path string) string {
	if strings.HasPrefix(path, "/") {
		return "/"
	}
	return "."
}

// isDescriptor reports whether a path without links is an entry of /proc/PID/fd, the target
// of /dev/stdout. It looks like a link, but the kernel resolves it differently.
func isDescriptor(path string) bool {
	match, _ := filepath.Match("/proc/*/fd/*", path)
	return match
}

// checkDir returns an error if the process is root and another user may change names in
// the directory.
func checkDir(path string, info fs.FileInfo) error {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok || os.Geteuid() != 0 || !info.IsDir() {
		return nil
	}
	// In a user namespace / belongs to its creator.
	if owner := ownerOf(info); owner != 0 && owner != topOwner() {
		return fmt.Errorf("root must not write to %s, which belongs to %s and where that user could redirect the write: "+
			"run this command as that user, with %s", path, userName(owner), runAs(owner))
	}
	mode := info.Mode()
	shared := mode&0o002 != 0 || mode&0o020 != 0 && status.Gid != 0
	if shared && mode&fs.ModeSticky == 0 {
		return fmt.Errorf("root must not write to %s, where other users could redirect the write: "+
			"run this command as the user of the server, or run chmod go-w %s", path, path)
	}
	return nil
}

// checkFile returns an error for an open file of another user in a world-writable
// directory.
func checkFile(file *os.File, path string) error {
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !trusted(dir, info) {
		return fmt.Errorf("%s belongs to %s, in a world-writable directory, and is not written to: "+
			"remove it, or name another file", path, userName(ownerOf(info)))
	}
	return nil
}

// trusted reports whether an entry of a directory was not created by another user in a
// world-writable directory.
func trusted(dir, entry fs.FileInfo) bool {
	owner := ownerOf(entry)
	return dir.Mode()&0o002 == 0 || owner == os.Geteuid() || owner == ownerOf(dir)
}

// topOwner returns the user that / belongs to.
func topOwner() int {
	if info, err := os.Stat("/"); err == nil {
		return ownerOf(info)
	}
	return 0
}

// ownerOf returns the user that a file belongs to, or -1.
func ownerOf(info fs.FileInfo) int {
	if status, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(status.Uid)
	}
	return -1
}

func userName(id int) string {
	if account, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return "the user " + account.Username
	}
	return "the user " + strconv.Itoa(id)
}

func runAs(id int) string {
	if account, err := user.LookupId(strconv.Itoa(id)); err == nil {
		return fmt.Sprintf("runuser -u %s -- plantstore … or sudo -u %[1]s plantstore …", account.Username)
	}
	return fmt.Sprintf("sudo -u '#%d' plantstore …", id)
}
