//go:build unix

package durable

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// hold keeps others from sweeping dir until release is called, and reports whether
// it can. Before that it sweeps dir itself, if nobody else holds it: what is there
// then of [sweptSuffix] belongs to nobody, for its makers have ended.
func hold(dir string) (held bool, release func()) {
	d, err := os.Open(dir) //nolint:gosec // the operator names the file
	if err != nil {
		return false, func() {}
	}
	release = func() { _ = d.Close() } // which gives up the lock
	lock := func(how int) bool { return syscall.Flock(int(d.Fd()), how|syscall.LOCK_NB) == nil }
	if lock(syscall.LOCK_EX) {
		sweep(d)
	}
	return lock(syscall.LOCK_SH), release
}

// sweep removes what is left over in dir. What cannot be removed stays.
func sweep(dir *os.File) {
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if !strings.HasPrefix(name, ".") || !strings.HasSuffix(name, sweptSuffix) {
			continue
		}
		path := filepath.Join(dir.Name(), name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() { //nolint:gosec // the operator names the file
			_ = os.Remove(path) //nolint:gosec // the operator names the file
		}
	}
}
