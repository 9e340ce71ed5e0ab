package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// MkdirAll creates dir and its missing parents with the mode perm. When it returns nil, dir
// survives a power failure, and files may be created in it. The entry of an existing
// directory is synced as well, since its creator may have died before doing so.
func MkdirAll(dir string, perm fs.FileMode) error {
	path, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	parent := filepath.Dir(path)
	existing, err := OpenDir(path)
	switch {
	case err == nil:
		return errors.Join(existing.Close(), syncForeign(parent))
	case !errors.Is(err, fs.ErrNotExist):
		return pathError("mkdir", path, err)
	}
	if err := MkdirAll(parent, perm); err != nil {
		return err
	}
	above, err := OpenDir(parent)
	if err != nil {
		return err
	}
	defer func() { _ = above.Close() }() // opened for reading
	// Another process may have created it meanwhile.
	if err := above.Mkdir(filepath.Base(path), perm); err != nil && !errors.Is(err, fs.ErrExist) {
		return pathError("mkdir", path, err)
	}
	return errors.Join(SyncDir(path), syncRoot(above))
}

// syncForeign syncs a directory that the caller may not be permitted to open.
func syncForeign(dir string) error {
	if err := SyncDir(dir); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// SyncDir makes the names in dir durable. It is a no-op where directories cannot be
// synced: on Windows, and on file systems that reject the call.
func SyncDir(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	return errors.Join(syncRoot(root), root.Close())
}

// syncRoot is SyncDir for an open directory.
func syncRoot(dir *os.Root) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := dir.Open(".")
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// OpenDir opens the directory path for writing files in it, by the rules of [OpenFile].
func OpenDir(path string) (*os.Root, error) {
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	dir, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	info, err := dir.Stat(".")
	if err == nil {
		err = checkDir(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, dir.Close())
	}
	return dir, nil
}
