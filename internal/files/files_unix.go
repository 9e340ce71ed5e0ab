//go:build unix

package files

import (
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// NoFollow is a flag of [os.OpenFile]: a symbolic link is not opened.
const NoFollow = syscall.O_NOFOLLOW

// refused is the error of connecting to a socket without a listener. macOS and the BSDs
// also return it if the listener's queue is full.
const refused = syscall.ECONNREFUSED

// ownerOf returns the user and the group that a file belongs to.
func ownerOf(info fs.FileInfo) (uid, gid int, known bool) {
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, 0, false
	}
	return int(stat.Uid), int(stat.Gid), true
}

// usable reports whether this process may read and change a file, or the contents of a directory.
func usable(path string, info fs.FileInfo) bool {
	const search, write, read = 1, 2, 4
	mode := uint32(read | write)
	if info.IsDir() {
		mode |= search
	}
	return syscall.Access(path, mode) == nil
}

// restrict limits the mode of the socket that will be bound to fd, so that no other user connects
// before it has its final mode. Only Linux supports it.
func restrict(fd uintptr, mode fs.FileMode) { _ = syscall.Fchmod(int(fd), uint32(mode.Perm())) }

// hold locks dir until release is called, so that no other process sweeps it meanwhile, and returns
// the suffix for temporary files. If no other process holds the lock, it sweeps dir first: the
// processes that created the files with [sweptSuffix] have ended.
func hold(dir string) (suffix string, release func()) {
	d, err := os.Open(dir)
	if err != nil {
		return otherSuffix, func() {}
	}
	release = func() { _ = d.Close() } // releases the lock
	lock := func(how int) bool { return syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB) == nil }
	if lock(syscall.LOCK_EX) {
		sweep(dir, func(name string) bool { return strings.HasPrefix(name, ".") && strings.HasSuffix(name, sweptSuffix) })
	}
	if !lock(syscall.LOCK_SH) {
		return otherSuffix, release
	}
	return sweptSuffix, release
}
