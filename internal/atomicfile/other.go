//go:build !unix

package atomicfile

import (
	"io/fs"
	"os"
	"path/filepath"
)

// OpenFile is [os.OpenFile]. Other users may create links only where they may write.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(path, flag, perm) //nolint:gosec // the operator names the file
}

// Check returns nil.
func Check(string) error { return nil }

// resolve returns path without symbolic links.
func resolve(path string) (string, error) {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target, nil
	}
	return path, nil
}

func checkDir(string, fs.FileInfo) error { return nil }

// hold is a no-op, since directories cannot be locked. Leftover files remain.
func hold(*os.Root) (held bool, release func()) { return false, func() {} }
