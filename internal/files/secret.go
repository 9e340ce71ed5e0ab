package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	maxSecret = 64 << 10 // bytes of a file with a secret
	maxPublic = 1 << 20  // bytes of a file with public keys
	// byteOrderMark is the prefix that some editors add to UTF-8 files.
	byteOrderMark = "\ufeff"
	// readFlags opens a file without waiting for the writer of a FIFO.
	readFlags = os.O_RDONLY | syscall.O_NONBLOCK
)

// Permission bits of users other than the owner.
const (
	groupReads  fs.FileMode = 0o040
	groupWrites fs.FileMode = 0o020
	othersRead  fs.FileMode = 0o004
	othersWrite fs.FileMode = 0o002
)

// ReadSecret returns the contents of a file with a secret or a private key, without a byte order
// mark. The file must be regular, or a pipe of the shell such as /dev/stdin, have at most 64 KiB,
// and not be in UTF-16. ReadSecret fails if the file belongs to neither root nor the user of this process, or if
// its group or others may write to it. Symbolic links are followed, as Kubernetes mounts secrets
// through them: the open file is checked.
//
// The error of a missing file does not have its name, which may be a secret in the place of a name.
func ReadSecret(path string) ([]byte, error) {
	return readNamed(path, maxSecret, groupWrites|othersWrite)
}

// ReadPublic is [ReadSecret] for public keys, of at most 1 MiB. Anyone who can change them could
// sign tokens. Others may read them, and the group of this process may write to them, as is the
// default on systems with a group for each user.
func ReadPublic(path string) ([]byte, error) { return readNamed(path, maxPublic, othersWrite) }

// ReadConfig is [ReadSecret] for the file .env, which may contain secrets. The group of this process
// may write to it. It fails for a symbolic link: in a directory such as /tmp others must not choose
// the file.
func ReadConfig(path string) ([]byte, error) {
	file, err := openDirect(path, "copy its target there")
	if err != nil {
		return nil, err
	}
	return read(file, maxSecret, othersWrite)
}

// ReadGenerated is [ReadSecret] for a secret that this program has generated. It also fails for a
// symbolic link, and if others can read the file.
func ReadGenerated(path string) ([]byte, error) {
	file, err := openDirect(path, "name its target in JWT_SECRET_FILE")
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	contents, readErr := read(file, maxSecret, groupWrites|othersWrite)
	if err = errors.Join(err, readErr); err != nil {
		return nil, err
	}
	if isExposed(info) {
		return nil, fmt.Errorf("%s: other users can read it (mode %#o): chmod 0600, or, if one may have read it, remove it: then a new one is generated, and previous tokens are refused",
			path, info.Mode().Perm())
	}
	return contents, nil
}

// openDirect opens a file that must not be a symbolic link. instead is the remedy if it is one.
func openDirect(path, instead string) (*os.File, error) {
	file, err := os.OpenFile(path, readFlags|NoFollow, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fmt.Errorf("%s is a symbolic link, by which other users could choose the file: remove it, or %s", path, instead)
	}
	return file, err
}

// readNamed is read for a file that the operator has named.
func readNamed(path string, limit int64, writers fs.FileMode) ([]byte, error) {
	file, err := os.OpenFile(path, readFlags, 0)
	if err != nil {
		return nil, WithoutSecret(path, err)
	}
	return read(file, limit, writers)
}

// read returns the contents of an open file, and closes it. No other user may have one of the
// permissions writers.
func read(file *os.File, limit int64, writers fs.FileMode) ([]byte, error) {
	defer func() { _ = file.Close() }() // opened for reading
	path := file.Name()
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		err = check(path, info, writers)
	case !isInherited(path):
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	contents, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err == nil && int64(len(contents)) > limit {
		err = fmt.Errorf("%s: the file is too long: it has more than %d bytes", path, limit)
	}
	if encoding := UTF16(contents); encoding != "" {
		err = fmt.Errorf("%s: the file is in %s, as Windows PowerShell 5 writes it: write it again with Set-Content -Encoding ascii, "+
			"or convert it with iconv -f %[2]s -t UTF-8", path, encoding)
	}
	return bytes.TrimPrefix(contents, []byte(byteOrderMark)), err
}

// UTF16 returns the name of the UTF-16 encoding of a text, by its byte order mark or its first two
// characters if they are ASCII, or "".
func UTF16(text []byte) string {
	isZero := func(i int) bool { return i < len(text) && text[i] == 0 }
	switch {
	case bytes.HasPrefix(text, []byte("\xff\xfe")), !isZero(0) && isZero(1) && !isZero(2) && isZero(3):
		return "UTF-16LE"
	case bytes.HasPrefix(text, []byte("\xfe\xff")), isZero(0) && !isZero(1) && isZero(2) && !isZero(3) && len(text) > 3:
		return "UTF-16BE"
	}
	return ""
}

// check rejects a file that other users can change. Where owners are not known, as on Windows, it
// returns nil.
func check(path string, info fs.FileInfo, writers fs.FileMode) error {
	uid, gid, known := ownerOf(info)
	if gid != os.Getegid() {
		writers |= groupWrites
	}
	switch {
	case !known:
		return nil
	case isForeign(uid):
		return fmt.Errorf("%s: other users can change it: it belongs to the user %d, and this process runs as %d; "+
			"run this as its owner, or chown it to root or to the user of this process", path, uid, os.Geteuid())
	case info.Mode().Perm()&writers != 0:
		return fmt.Errorf("%s: other users can change it: its mode is %#o; chmod go-w %[1]s after checking its contents", path, info.Mode().Perm())
	}
	return nil
}

// isExposed reports whether other users can read a file. For a file of root, group access is
// allowed, since a process of another user needs it.
func isExposed(info fs.FileInfo) bool {
	uid, _, known := ownerOf(info)
	readers := groupReads | othersRead
	if uid == 0 && os.Geteuid() != 0 {
		readers = othersRead
	}
	return known && info.Mode().Perm()&readers != 0
}

// isInherited reports whether a path refers to an inherited descriptor, as for <(command)
// in a shell. A pipe or terminal there is trusted regardless of its mode.
func isInherited(path string) bool {
	clean := filepath.ToSlash(filepath.Clean(path))
	return clean == "/dev/stdin" || strings.HasPrefix(clean, "/dev/fd/") || strings.HasPrefix(clean, "/proc/self/fd/")
}

// WithoutSecret returns an error of opening path, with its name only if it exists: else it may be
// a secret or a URL in the place of a name.
func WithoutSecret(path string, err error) error {
	failure, ok := errors.AsType[*fs.PathError](err)
	if _, statErr := os.Lstat(path); !ok || statErr == nil {
		return err
	}
	return fmt.Errorf("%w (its name is not shown, as it may be a secret)", failure.Err)
}
