// Package atomicfile creates and replaces files in one step. A file is there in
// full or not at all, also after a power failure.
//
// A file is created in a directory that stays open, under a random name that nothing
// had before, and is written, synced and published by its descriptor and relative to
// that directory: another user of the machine who changes the names in between
// redirects nothing. [OpenFile] has the rules for the directories and links on the way.
package atomicfile

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// The ends of the names of temporary files. Those with sweptSuffix are removed after
// a crash: their process held a lock on the directory while it ran.
const (
	sweptSuffix = ".plantstore.tmp"
	otherSuffix = ".tmp"
)

// tempPerm keeps a temporary file from everybody but its owner.
const tempPerm fs.FileMode = 0o600

// A File is a temporary file that is about to be published.
type File struct {
	*os.File

	dir  *os.Root
	name string // in dir
	path string // that it gets
}

// Dir returns the directory of the file, open until the file is published.
func (f *File) Dir() *os.Root { return f.dir }

// OpenFile opens the file a second time, with the signature of [os.OpenFile]: libraries
// that open files themselves can be given it. It ignores the name, creates nothing, and
// fails if the name of the temporary file leads to another file by now.
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

// Create creates the file path, which must not exist yet, in a directory that does.
// It calls write with an empty temporary file in the same directory that only the
// caller's user may open. The file then gets the mode perm, is synced, and appears
// under its own name in one step. When Create returns nil, the file is complete and
// survives a power failure.
//
// An existing file is never replaced: of several processes that create path at
// once one succeeds, and the others get [fs.ErrExist]. After any other error
// path does not exist, unless the last step failed, the sync of the directory.
// The file system must have hard links. A process that dies in between leaves a hidden
// file behind whose name begins with that of path and ends in .tmp. On Unix the next
// process that creates a file there while no other does removes it.
func Create(path string, perm fs.FileMode, write func(f *File) error) error {
	dir, err := OpenDir(filepath.Dir(path))
	if err != nil {
		return createError(path, err)
	}
	defer func() { _ = dir.Close() }() // it was opened for reading
	return place(dir, path, perm, write, func(tmp, name string) error {
		if err := dir.Link(tmp, name); err != nil {
			return createError(path, err)
		}
		_ = dir.Remove(tmp) // a second name that stays behind does no harm
		return nil
	})
}

// Replace is [Create] for a file that may exist: the new file replaces it in one step.
// What exists but is not a regular file is refused. A symbolic link is followed.
func Replace(path string, perm fs.FileMode, write func(f *File) error) error {
	target, err := resolve(path)
	if err != nil {
		return createError(path, err)
	}
	dir, err := OpenDir(filepath.Dir(target))
	if err != nil {
		return createError(path, err)
	}
	defer func() { _ = dir.Close() }() // it was opened for reading
	info, err := dir.Lstat(filepath.Base(target))
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return place(dir, target, perm, write, dir.Rename)
}

// place creates the file path in its directory dir. publish renames it.
func place(dir *os.Root, path string, perm fs.FileMode, write func(f *File) error, publish func(tmp, name string) error) error {
	held, release := hold(dir)
	defer release()
	suffix := otherSuffix
	if held {
		suffix = sweptSuffix
	}
	name := filepath.Base(path)
	tmp, err := writeTemp(dir, path, "."+name+"-"+rand.Text()+suffix, perm, write)
	if err != nil {
		return err
	}
	if err := publish(tmp, name); err != nil {
		return errors.Join(err, dir.Remove(tmp))
	}
	return syncRoot(dir)
}

// writeTemp creates the synced file name in dir that is to become path.
func writeTemp(dir *os.Root, path, name string, perm fs.FileMode, write func(f *File) error) (tmp string, err error) {
	file, err := dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, tempPerm)
	if err != nil {
		return "", createError(path, err)
	}
	defer func() {
		err = errors.Join(err, file.Close())
		if err != nil {
			err = errors.Join(err, dir.Remove(name))
		}
	}()
	if err := write(&File{File: file, dir: dir, name: name, path: path}); err != nil {
		return "", withPath(err, file.Name(), path)
	}
	if err := file.Chmod(perm); err != nil {
		return "", err
	}
	// The file was open before write did its work, so that this descriptor
	// reports every failure to write back what write wrote.
	return name, file.Sync()
}

// createError returns err as an error of creating path.
func createError(path string, err error) error { return pathError("create", path, err) }

// pathError returns err as an error of the operation op on path. A refusal names its own
// paths, and stays as it is.
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

// withPath returns err, which names path instead of the temporary file tmp.
func withPath(err error, tmp, path string) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == tmp {
		return &fs.PathError{Op: failure.Op, Path: path, Err: failure.Err}
	}
	return err
}
