// Package durable makes files and folders that are whole and that survive a
// power cut. What it has made is either there in full or not there at all.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

// The ends of the names of files that are not whole yet. The first are swept away
// where their maker has died: it held the folder while it lived.
const (
	sweptSuffix = ".plantstore.tmp"
	otherSuffix = ".tmp"
)

// dirPerm keeps a made folder from everybody but its owner and group.
const dirPerm fs.FileMode = 0o750

// MkdirAll makes dir and the folders above it that are missing. When it returns
// nil, dir survives a power cut. A folder that is there already has its entry
// synced again, since whoever made it may have died before doing so.
func MkdirAll(dir string) error {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	return mkdirAll(abs)
}

func mkdirAll(dir string) error {
	parent := filepath.Dir(dir)
	info, err := os.Stat(dir) //nolint:gosec // the operator names the file
	switch {
	case err == nil && !info.IsDir():
		return &fs.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
	case err == nil:
		return syncForeign(parent)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := mkdirAll(parent); err != nil {
		return err
	}
	// Another process may have been quicker: that is as good.
	if err := os.Mkdir(dir, dirPerm); err != nil && !errors.Is(err, fs.ErrExist) { //nolint:gosec // the operator names the file
		return err
	}
	return errors.Join(SyncDir(dir), SyncDir(parent))
}

// syncForeign syncs a folder that may be somebody else's, and that may for this
// reason not be open to us.
func syncForeign(dir string) error {
	if err := SyncDir(dir); !errors.Is(err, fs.ErrPermission) {
		return err
	}
	return nil
}

// SyncDir makes the entries of dir durable: the names made, removed or changed
// in it so far. It does nothing where folders cannot be synced: on Windows, and
// on file systems that refuse the call as having no meaning.
func SyncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(dir) //nolint:gosec // the folder of a file that the operator names
	if err != nil {
		return err
	}
	err = d.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Create makes the file path, which must not exist yet, in a folder that does.
// It calls write with the name of an empty file in the same folder that only
// the caller's user may open; write fills it, by name, in any way it likes. The
// file then gets the mode perm, is synced, and appears under its own name in one
// step. When Create returns nil, the file is whole and survives a power cut. If
// root does it, the file belongs to whom the folder belongs.
//
// An existing file is never replaced: of several processes that create path at
// once one succeeds, and the others get [fs.ErrExist]. After any other error
// path does not exist, unless it was the last step, the syncing of the folder,
// that failed. A process that dies underway leaves at most a hidden file behind
// whose name begins with that of path and ends in .tmp. If it could lock the folder,
// which it can on Unix, the next one that makes a file there while no other does
// removes that.
func Create(path string, perm fs.FileMode, write func(tmp string) error) error {
	return place(path, perm, write, publish)
}

// place makes the file path, which put gives its name.
func place(path string, perm fs.FileMode, write func(tmp string) error, put func(tmp, path string) error) error {
	held, release := hold(filepath.Dir(path))
	defer release()
	suffix := otherSuffix
	if held {
		suffix = sweptSuffix
	}
	tmp, err := writeTemp(path, suffix, perm, write)
	if err != nil {
		return err
	}
	if err := put(tmp, path); err != nil {
		return errors.Join(err, os.Remove(tmp)) //nolint:gosec // the operator names the file
	}
	return SyncDir(filepath.Dir(path))
}

// Replace is [Create] for a file that may exist: it takes the place of that in one
// step. What is there but is no regular file is refused. A link is followed. If
// root does it, the file belongs to whom it belonged before, or to whom the folder
// belongs.
func Replace(path string, perm fs.FileMode, write func(tmp string) error) error {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return fmt.Errorf("%s is not a regular file", path)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return place(path, perm, write, os.Rename)
}

// writeTemp makes the synced file that is to become path and returns its name.
func writeTemp(path, suffix string, perm fs.FileMode, write func(tmp string) error) (tmp string, err error) {
	dir, base := filepath.Split(path)
	if dir == "" {
		dir = "." // os.CreateTemp would take the system's folder for "".
	}
	f, err := os.CreateTemp(dir, "."+base+"-*"+suffix)
	if failure := new(fs.PathError); errors.As(err, &failure) {
		return "", &fs.PathError{Op: "create", Path: path, Err: failure.Err}
	}
	if err != nil {
		return "", err
	}
	defer func() {
		err = errors.Join(err, f.Close())
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name())) //nolint:gosec // the operator names the file
		}
	}()
	// The owner is looked up first, since write may take path away.
	if err := keepOwner(f.Name(), path); err != nil {
		return "", err
	}
	if err := write(f.Name()); err != nil {
		return "", known(err, f.Name(), path)
	}
	if err := f.Chmod(perm); err != nil {
		return "", err
	}
	// f was opened before write did its work, so that it hears of every
	// failure to write back what write wrote.
	return f.Name(), f.Sync()
}

// known returns err or, if it is about the file tmp, whose name nobody knows, as one
// about path.
func known(err error, tmp, path string) error {
	if failure := new(fs.PathError); errors.As(err, &failure) && failure.Path == tmp {
		return &fs.PathError{Op: failure.Op, Path: path, Err: failure.Err}
	}
	return err
}

// publish gives the file tmp the name path, atomically, unless path exists.
func publish(tmp, path string) error {
	err := os.Link(tmp, path)
	switch {
	case err == nil:
		_ = os.Remove(tmp) //nolint:gosec // the operator names the file; a second name that stays behind does no harm.
		return nil
	case errors.Is(err, fs.ErrExist):
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	// Not every file system has hard links; those of USB sticks and network
	// shares don't, and each refuses in its own words.
	if renameErr := renameNoReplace(tmp, path); renameErr != nil {
		return &fs.PathError{Op: "create", Path: path, Err: fmt.Errorf("%w (and no hard link: %w)", renameErr, err)}
	}
	return nil
}
