//go:build unix

package atomicfile

import (
	"os"
	"strings"
	"syscall"
)

// hold locks dir, so that other processes do not sweep it until release is called, and
// reports whether that worked. If no other process holds the lock, it sweeps dir first:
// the processes that created the files with [sweptSuffix] have ended.
func hold(dir *os.Root) (held bool, release func()) {
	d, err := dir.Open(".")
	if err != nil {
		return false, func() {}
	}
	release = func() { _ = d.Close() } // releases the lock
	lock := func(how int) bool { return syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB) == nil }
	if lock(syscall.LOCK_EX) {
		names, _ := d.Readdirnames(-1)
		sweep(dir, names)
	}
	return lock(syscall.LOCK_SH), release
}

// sweep removes the leftover temporary files among the names in dir, as far as it can.
func sweep(dir *os.Root, names []string) {
	for _, name := range names {
		if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, sweptSuffix) {
			continue
		}
		if info, err := dir.Lstat(name); err == nil && info.Mode().IsRegular() {
			_ = dir.Remove(name)
		}
	}
}
