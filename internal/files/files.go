// Package files creates and replaces files atomically, reads secrets, and creates Unix sockets.
//
// It writes a new file under a random temporary name, syncs it, and then links or renames it. So
// even after a power failure, the file is either complete or absent.
package files

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// The suffixes of temporary files. Files with sweptSuffix are removed after a crash: their
// process holds a lock on the directory while it runs.
const (
	sweptSuffix = ".plantstore.tmp"
	otherSuffix = ".tmp"
)

// perm is the mode of created files: accessible only to the owner.
const perm fs.FileMode = 0o600

// Create creates the file path of this program, which must not exist, in a directory that passes the
// checks of [MkdirAll]. It calls write with an empty temporary file there. The
// file is then synced, and appears under its name in one step. When Create returns nil, the file is
// complete and survives a power failure.
//
// An existing file is never replaced: of several processes that create path at the same
// time one succeeds, and the others get [fs.ErrExist]. After any other error path does
// not exist, unless the last step failed, the sync of the directory. The file system must
// have hard links.
//
// A process that dies in between leaves a hidden file with a name that begins with the name of path
// and ends in .tmp. On Unix it is removed when the next file is created in the directory and no
// other process is creating one.
func Create(path string, write func(*os.File) error) error {
	if err := checkPath(filepath.Dir(path)); err != nil {
		return err
	}
	return place(path, write, link)
}

// link gives the temporary file the name path, unless that exists.
func link(tmp, path string) error {
	if err := os.Link(tmp, path); err != nil {
		return err
	}
	_ = os.Remove(tmp) // a remaining second name does no harm
	return nil
}

// CreateOutput is [Create] for a file that one process writes at a time, on any file system: it
// removes what a killed one has left. With force, the new file replaces an existing one in one step. A
// symbolic link is replaced, not followed. Without force and where there are no hard links, the file is
// empty for a moment.
func CreateOutput(path string, force bool, write func(*os.File) error) error {
	if err := checkPath(filepath.Dir(path)); err != nil {
		return err
	}
	random := regexp.MustCompile(`^[A-Z2-7]{26,}(\.plantstore)?\.tmp$`)
	sweep(filepath.Dir(path), func(name string) bool {
		rest, found := strings.CutPrefix(name, "."+filepath.Base(path)+"-")
		return found && random.MatchString(rest)
	})
	publish := linkOrRename
	if force {
		publish = os.Rename
	}
	return place(path, write, func(tmp, path string) error {
		err := publish(tmp, path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%w: another process writes it, too, and has removed this one's temporary file", fs.ErrExist)
		}
		return err
	})
}

// linkOrRename gives the temporary file the name path, unless that exists, on any file system.
func linkOrRename(tmp, path string) error {
	if err := link(tmp, path); err == nil || errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	reserved, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	_ = reserved.Close() // nothing was written
	if err := os.Rename(tmp, path); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

// sweep removes the leftover files of a directory, by their names.
func sweep(dir string, leftover func(name string) bool) {
	entries, _ := os.ReadDir(dir) // best effort
	for _, entry := range entries {
		if leftover(entry.Name()) {
			_ = os.Remove(filepath.Join(dir, entry.Name()))
		}
	}
}

// place creates the file path. publish gives the temporary file its name.
func place(path string, write func(*os.File) error, publish func(tmp, path string) error) error {
	dir, name := filepath.Split(path)
	suffix, release := hold(filepath.Dir(path))
	defer release()
	tmp := dir + "." + name + "-" + rand.Text() + suffix
	file, err := os.OpenFile(tmp, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return pathError("create", path, err)
	}
	if err = write(file); err == nil {
		err = file.Sync() // the descriptor was open before write, so this reports every write-back error
	}
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == tmp {
		err = pathError(failure.Op, path, err)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = pathError("create", path, publish(tmp, path))
	}
	if err != nil {
		_ = os.Remove(tmp) // best effort
		return err
	}
	return SyncDir(filepath.Dir(path))
}

// pathError returns a system error as an error of the operation op on path.
func pathError(op, path string, err error) error {
	if failure, ok := errors.AsType[*os.LinkError](err); ok {
		if failure.Op == "link" && (errors.Is(err, syscall.EPERM) || errors.Is(err, errors.ErrUnsupported)) {
			return fmt.Errorf("create %s: the file system may have no hard links (%v); use a directory on another one", path, failure.Err) //nolint:errorlint // not [fs.ErrPermission]
		}
		return &fs.PathError{Op: op, Path: path, Err: failure.Err}
	}
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: op, Path: path, Err: failure.Err}
	}
	return err
}
