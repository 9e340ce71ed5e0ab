//go:build unix

package atomicfile

import (
	"os"
	"strings"
	"syscall"
)

// hold keeps other processes from sweeping dir until release is called, and reports
// whether it can. Before that it sweeps dir itself, if no other process holds it: the
// processes that created the files of [sweptSuffix] have then ended.
func hold(dir *os.Root) (held bool, release func()) {
	d, err := dir.Open(".")
	if err != nil {
		return false, func() {}
	}
	release = func() { _ = d.Close() } // which gives up the lock
	lock := func(how int) bool { return syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB) == nil }
	if lock(syscall.LOCK_EX) {
		names, _ := d.Readdirnames(-1)
		sweep(dir, names)
	}
	return lock(syscall.LOCK_SH), release
}

// sweep removes what is left over among the names in dir. What cannot be removed stays.
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
