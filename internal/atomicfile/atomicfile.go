// Package atomicfile creates and replaces files atomically: even after a power failure a
// file is either complete or absent.
//
// A file is written under a random temporary name and synced by its descriptor. Then it is
// linked or renamed relative to its directory, which stays open. So other users of the
// machine cannot redirect it by changing names meanwhile. [OpenFile] lists the rules for
// the directories and symbolic links of a path.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// The suffixes of temporary files. Files with sweptSuffix are removed after a crash: their
// process holds a lock on the directory while it runs.
const (
	sweptSuffix = ".plantstore.tmp"
	otherSuffix = ".tmp"
)

// tempPerm is the mode of temporary files: accessible only to the owner.
const tempPerm fs.FileMode = 0o600

// A File is a temporary file that is not yet published.
type File struct {
	*os.File

	dir  *os.Root
	name string // in dir
	path string // when published
}

// Dir returns the directory of the file. It is open until the file is published.
func (f *File) Dir() *os.Root { return f.dir }

// OpenFile opens the file again, for libraries that require a function like [os.OpenFile].
// It ignores the name, does not create a file, and fails if another file has replaced the
// temporary one.
func (f *File) OpenFile(_ string, flag int, _ fs.FileMode) (*os.File, error) {
	again, err := f.dir.OpenFile(f.name, flag&(os.O_RDONLY|os.O_WRONLY|os.O_RDWR), 0)
	if err != nil {
		return nil, err
	}
	first, firstErr := f.Stat()
	second, err := again.Stat()
	if err = errors.Join(firstErr, err); err == nil && !os.SameFile(first, second) {
		err = fmt.Errorf("the temporary file of %s was replaced by another user", f.path)
	}
	if err != nil {
		return nil, errors.Join(err, again.Close())
	}
	return again, nil
}

// Create creates the file path, which must not exist, in an existing directory. It calls
// write with an empty temporary file in that directory, which only the caller's user may
// open. The file then gets the mode perm, is synced, and appears under its name in one
// step. When Create returns nil, the file is complete and survives a power failure.
//
// An existing file is never replaced: of several processes that create path at the same
// time one succeeds, and the others get [fs.ErrExist]. After any other error path does
// not exist, unless the last step failed, the sync of the directory. The file system must
// have hard links.
//
// A process that dies in between leaves a hidden file with a name that begins with the
// name of path and ends in .tmp. On Unix it is removed when the next file is created in the directory
// and no other process is creating one.
func Create(path string, perm fs.FileMode, write func(f *File) error) error {
	dir, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return createError(path, err)
	}
	defer func() { _ = dir.Close() }() // opened for reading
	return place(dir, path, perm, write, func(tmp, name string) error {
		if err := dir.Link(tmp, name); err != nil {
			return linkError(path, err)
		}
		_ = dir.Remove(tmp) // a remaining second name does no harm
		return nil
	})
}

// linkError returns the error for a file that could not be linked to path. Without hard
// links it is not [fs.ErrPermission], for which callers have other advice.
func linkError(path string, err error) error {
	if errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported) { // the errors of link(2) without hard links
		return fmt.Errorf("create %s: the file system may have no hard links (%v); use a directory on another one", path, errors.Unwrap(err)) //nolint:errorlint // see above
	}
	return createError(path, err)
}

// Replace is [Create] for a file that may exist: the new file replaces it in one step.
// It fails if path exists but is not a regular file. A symbolic link is followed.
func Replace(path string, perm fs.FileMode, write func(f *File) error) error {
	target, err := resolve(path)
	if err != nil {
		return createError(path, err)
	}
	dir, err := OpenDir(filepath.Dir(target))
	if err != nil {
		return createError(path, err)
	}
	defer func() { _ = dir.Close() }() // opened for reading
	info, err := dir.Lstat(filepath.Base(target))
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return place(dir, target, perm, write, dir.Rename)
}

// place creates the file path in its directory dir. publish gives it its name.
func place(dir *os.Root, path string, perm fs.FileMode, write func(f *File) error, publish func(tmp, name string) error) error {
	held, release := hold(dir)
	defer release()
	suffix := otherSuffix
	if held {
		suffix = sweptSuffix
	}
	name := filepath.Base(path)
	tmp := "." + name + "-" + rand.Text() + suffix
	if err := writeTemp(dir, path, tmp, perm, write); err != nil {
		return err
	}
	if err := publish(tmp, name); err != nil {
		return errors.Join(err, dir.Remove(tmp))
	}
	return syncRoot(dir)
}

// writeTemp creates and syncs the temporary file name in dir for path.
func writeTemp(dir *os.Root, path, name string, perm fs.FileMode, write func(f *File) error) (err error) {
	file, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, tempPerm)
	if err != nil {
		return createError(path, err)
	}
	defer func() {
		err = errors.Join(err, file.Close())
		if err != nil {
			err = errors.Join(err, dir.Remove(name))
		}
	}()
	if err := write(&File{File: file, dir: dir, name: name, path: path}); err != nil {
		return withPath(err, file.Name(), path)
	}
	if err := file.Chmod(perm); err != nil {
		return err
	}
	// The descriptor was open before write, so its sync reports every write-back error.
	return file.Sync()
}

// createError returns err as an error of creating path.
func createError(path string, err error) error { return pathError("create", path, err) }

// pathError returns a system error as an error of the operation op on path. Other errors
// name their own paths.
func pathError(op, path string, err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		err = failure.Err
	} else if failure, ok := errors.AsType[*os.LinkError](err); ok {
		err = failure.Err
	} else {
		return err
	}
	return &fs.PathError{Op: op, Path: path, Err: err}
}

// withPath returns err with path in place of the temporary file tmp.
func withPath(err error, tmp, path string) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == tmp {
		return &fs.PathError{Op: failure.Op, Path: path, Err: failure.Err}
	}
	return err
}
