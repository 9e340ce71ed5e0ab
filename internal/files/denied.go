package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Reason returns an error of a file without its name, for a message that has it. [Denied] still
// finds it.
func Reason(err error) error {
	if failure, ok := errors.AsType[*fs.PathError](err); ok {
		return nameless{failure}
	}
	return err
}

type nameless struct{ error }

func (e nameless) Error() string { return errors.Unwrap(e.error).Error() }

func (e nameless) Unwrap() error { return e.error }

// Denied explains an [fs.ErrPermission]: it returns which object on the way to the file this process
// must not use, to whom it belongs, who this process is, and a remedy. It returns "" for any other
// error, or if the reason is not an owner or a mode.
func Denied(err error) string {
	failure, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrPermission) {
		return ""
	}
	object := failure.Path
	info, err := os.Stat(object)
	for ; err != nil; info, err = os.Stat(object) {
		parent := filepath.Dir(object)
		if parent == object {
			return ""
		}
		object = parent
	}
	if usable(object, info) { // it is to be replaced
		object = filepath.Dir(object)
		if info, err = os.Stat(object); err != nil || usable(object, info) {
			return ""
		}
	}
	owner, _, known := ownerOf(info)
	self := os.Geteuid()
	switch {
	case !known:
		return ""
	case owner == self:
		return fmt.Sprintf("%s has the mode %04o: chmod u+rwX %[1]s", object, info.Mode().Perm())
	case owner == 0:
		return fmt.Sprintf("%s belongs to uid 0, this process is uid %d: chown %[2]d %[1]s", object, self)
	}
	return fmt.Sprintf("%s belongs to uid %d, this process is uid %d: run this as that user, or chown %[3]d %[1]s", object, owner, self)
}
