package app

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"plantstore/internal/files"
	"plantstore/storage/bbolt"
)

// Advise adds a remedy to an error of a file or its directory. missing is the remedy if it does
// not exist, and place the option that names another one, such as " with --storage-url".
func Advise(err error, missing, place string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission):
		denied := cmp.Or(files.Denied(err), "run this as the owner of the directory")
		if owner, _, root := strings.Cut(denied, ": chown"); root && place == "" { // an output, in a directory of root
			return fmt.Errorf("%w; %s: name another place", err, owner)
		}
		return fmt.Errorf("%w; %s, or name another place%s", err, denied, place)
	case errors.Is(err, syscall.EROFS):
		return fmt.Errorf("%w; make it writable, or name another place%s", err, place)
	case bbolt.NoSpace(err):
		return fmt.Errorf("%w; free some space on that disk, and try again", err)
	}
	return AdviseRead(err, missing)
}

// AdviseDatabase adds a remedy to an error of the database.
func AdviseDatabase(err error) error {
	return Advise(err, "name the database with --storage-url; plantstore serve creates it, but not with --ephemeral", " with --storage-url")
}

// AdviseRead is [Advise] for a file that is only read.
func AdviseRead(err error, missing string) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w; %s", err, missing)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w; %s", err, cmp.Or(files.Denied(err), "run this as the owner of the file, or let this user read it"))
	}
	return err
}
