// Package secretfile reads files that security depends on: secrets, private and public
// keys, and configuration. It rejects a file that other users can change, and reports
// a secret that they can read, which PostgreSQL would reject.
//
// All checks are made on the descriptor that is read, so that the file can't be replaced
// in between. Symbolic links are followed, since Kubernetes mounts secrets through them,
// and the target is checked. On Windows, which lacks modes and owners of this kind,
// there are no checks.
package secretfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// ErrUntrusted is returned for a file or directory that other users can change.
var ErrUntrusted = errors.New("other users can change it")

// byteOrderMark is the prefix that some editors add to UTF-8 files.
const byteOrderMark = "\ufeff"

// An Exposure is a file with a secret that other users can read.
type Exposure struct {
	Path string
	Mode fs.FileMode
}

// String describes the exposure and its remedy.
func (e Exposure) String() string {
	return fmt.Sprintf("%s holds a secret and can be read by other users (mode %#o): chmod 0600, or 0640 and owned by root",
		e.Path, e.Mode.Perm())
}

// A Report is called for each exposed file that is read. It may be nil.
type Report func(Exposure)

// Once returns a Report that reports each exposure once, even if the file is read again.
// It is safe for concurrent use.
func Once(report Report) Report {
	var reported sync.Map
	return func(e Exposure) {
		if _, again := reported.LoadOrStore(e, true); !again {
			report(e)
		}
	}
}

// Read returns the contents of a file with a secret or a private key, of at most limit
// bytes, without a byte order mark. It fails with [ErrUntrusted] if other users can change
// the file: if its group or others may write to it, if it belongs to neither root nor the
// user of this process, or if any user can replace it in its directory. A file that others
// can read is passed to report.
func Read(path string, limit int64, report Report) ([]byte, error) {
	return read(path, limit, isSecret, report)
}

// ReadShared is [Read] for a file that others may read, such as a public key. Anyone who
// can change it could sign tokens, so it makes the same checks, with one exception: the group
// of this process may have write access, which is the default on systems with a group for
// each user.
func ReadShared(path string, limit int64) ([]byte, error) {
	return read(path, limit, isShared, nil)
}

// ReadConfig is [ReadShared] for a file that may contain secrets. It does not check the
// directory. A file that others can read is passed to report.
func ReadConfig(path string, limit int64, report Report) ([]byte, error) {
	return read(path, limit, isConfig, report)
}

// A kind is the purpose of a file.
type kind int

const (
	isSecret kind = iota
	isShared
	isConfig
)

func read(path string, limit int64, k kind, report Report) ([]byte, error) {
	dir, file, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading
	if k != isConfig && !isInherited(path) {
		if err := checkWritable(filepath.Dir(path), dir); err != nil {
			return nil, err
		}
	}
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() || !isInherited(path) {
		if err := checkFile(path, info, k); err != nil {
			return nil, err
		}
	}
	contents, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(contents)) > limit {
		err = fmt.Errorf("%s: the file is too long: it has more than %d bytes", path, limit)
	}
	if err == nil && report != nil && readableByOthers(info) {
		report(Exposure{Path: path, Mode: info.Mode().Perm()})
	}
	return bytes.TrimPrefix(contents, []byte(byteOrderMark)), err
}

// isInherited reports whether a path refers to an inherited descriptor, as for <(command)
// in a shell. A pipe or terminal there is trusted regardless of its mode.
func isInherited(path string) bool {
	clean := filepath.ToSlash(filepath.Clean(path))
	return clean == "/dev/stdin" || strings.HasPrefix(clean, "/dev/fd/") || strings.HasPrefix(clean, "/proc/self/fd/")
}

// CheckDirectory checks that no other user can replace files in the directory of generated
// secrets. It fails with [ErrUntrusted] if the owner is neither root nor the user of this
// process, or if others may write to it and it is not sticky, as /tmp is. It fails with
// [fs.ErrNotExist] if the directory does not exist.
func CheckDirectory(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return checkDirectory(path, info)
}

// untrusted returns an error that wraps [ErrUntrusted].
func untrusted(path, why, remedy string) error {
	return fmt.Errorf("%s: %w: %s; %s", path, ErrUntrusted, why, remedy)
}
