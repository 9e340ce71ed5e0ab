//go:build unix

package secretfile

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// The permission bits of users other than the owner.
const (
	othersWrite        fs.FileMode = 0o002
	groupReads         fs.FileMode = 0o040
	othersRead         fs.FileMode = 0o004
	groupOrOthersWrite fs.FileMode = 0o020 | othersWrite
)

// open opens the file path and returns the FileInfo of its directory. Both use one
// descriptor of the directory, so that a concurrent rename has no effect.
func open(path string) (dir fs.FileInfo, file *os.File, err error) {
	in, name := filepath.Split(path)
	if path == "" {
		return nil, nil, &fs.PathError{Op: "open", Err: fs.ErrNotExist}
	}
	parent, err := os.OpenFile(cmp.Or(in, "."), searchDirectory, 0)
	if err != nil {
		return nil, nil, &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	defer func() { _ = parent.Close() }() // opened for reading
	if dir, err = parent.Stat(); err != nil {
		return nil, nil, err
	}
	for {
		fd, err := unix.Openat(int(parent.Fd()), cmp.Or(name, "."), unix.O_RDONLY|unix.O_CLOEXEC, 0)
		switch {
		case err == nil:
			return dir, os.NewFile(uintptr(fd), path), nil
		case !errors.Is(err, unix.EINTR): // a FIFO waits for its writer
			return nil, nil, &fs.PathError{Op: "open", Path: path, Err: err}
		}
	}
}

// checkFile rejects a file that other users can change.
func checkFile(path string, info fs.FileInfo, k kind) error {
	if err := checkOwner(path, info); err != nil {
		return err
	}
	writers := groupOrOthersWrite
	if k != isSecret {
		writers = foreignWriters(info)
	}
	if info.Mode().Perm()&writers != 0 {
		return untrusted(path, fmt.Sprintf("its mode is %#o", info.Mode().Perm()), "chmod go-w "+path+" after checking its contents")
	}
	return nil
}

// checkOwner rejects a file unless its owner is root or the user of this process.
func checkOwner(path string, info fs.FileInfo) error {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known || stat.Uid == 0 || int(stat.Uid) == os.Geteuid() {
		return nil
	}
	return untrusted(path, fmt.Sprintf("it belongs to the user %d, and this process runs as %d", stat.Uid, os.Geteuid()),
		"run this as its owner, or chown it to root or to the user of this process")
}

// foreignWriters returns the permissions by which users of another group can write.
func foreignWriters(info fs.FileInfo) fs.FileMode {
	if stat, known := info.Sys().(*syscall.Stat_t); known && int(stat.Gid) == os.Getegid() {
		return othersWrite
	}
	return groupOrOthersWrite
}

// readableByOthers reports whether other users can read a file. For a file of root, group
// access is allowed, since a process of another user needs it.
func readableByOthers(info fs.FileInfo) bool {
	readers := groupReads | othersRead
	if stat, known := info.Sys().(*syscall.Stat_t); known && stat.Uid == 0 && os.Geteuid() != 0 {
		readers = othersRead
	}
	return info.Mode().IsRegular() && info.Mode().Perm()&readers != 0
}

// checkDirectory rejects a directory in which other users can replace files.
func checkDirectory(path string, info fs.FileInfo) error {
	if err := checkOwner(path, info); err != nil {
		return err
	}
	return checkWriters(path, info, foreignWriters(info))
}

// checkWritable rejects a directory in which any user can replace files.
func checkWritable(path string, info fs.FileInfo) error { return checkWriters(path, info, othersWrite) }

func checkWriters(path string, info fs.FileInfo, writers fs.FileMode) error {
	if info.Mode()&fs.ModeSticky != 0 || info.Mode()&writers == 0 {
		return nil
	}
	return untrusted(path, fmt.Sprintf("the mode of the directory is %#o, so that they can replace the files in it", info.Mode().Perm()),
		"chmod go-w "+path)
}
