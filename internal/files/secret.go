package files

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

const (
	maxSecret = 64 << 10 // bytes of a file with a secret
	maxPublic = 1 << 20  // bytes of a file with public keys
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
// and not be in UTF-16. ReadSecret fails if the file belongs to neither root nor the user of this
// process, or if others may write to it. The groups of this process may: kubelet gives all files of a
// volume to the group of the pod, and some systems have a group for each user. Symbolic links are
// followed, as Kubernetes mounts secrets through them: the open file is checked.
//
// The error of a missing file does not have its name, which may be a secret in the place of a name.
func ReadSecret(path string) ([]byte, error) { return kind{limit: maxSecret}.read(path) }

// ReadPublic is [ReadSecret] for public keys, of at most 1 MiB. Anyone who can change them could
// sign tokens.
func ReadPublic(path string) ([]byte, error) { return kind{limit: maxPublic}.read(path) }

// ReadConfig is [ReadSecret] for the file .env, which may contain secrets. It fails for a symbolic
// link: in a directory such as /tmp others must not choose the file.
func ReadConfig(path string) ([]byte, error) {
	return kind{limit: maxSecret, noLink: "copy its target there"}.read(path)
}

// ReadGenerated is [ReadSecret] for a file of [CreateSecret]. It also fails for a symbolic link, and
// if others can read the file.
func ReadGenerated(path string) ([]byte, error) {
	return kind{limit: maxSecret, noLink: "name its target in JWT_SECRET_FILE", private: true}.read(path)
}

// A kind is a kind of files that other users must not change.
type kind struct {
	limit   int64  // bytes
	noLink  string // the remedy for a symbolic link; empty: it is followed, and the operator has named the file
	private bool   // others must not read it
}

// read returns the contents of a file.
func (k kind) read(path string) ([]byte, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK // does not wait for the writer of a FIFO
	if k.noLink != "" {
		flags |= NoFollow
	}
	file, err := os.OpenFile(path, flags, 0)
	switch {
	case err == nil:
	case k.noLink == "":
		return nil, WithoutSecret(path, err)
	case errors.Is(err, syscall.ELOOP):
		return nil, fmt.Errorf("%s is a symbolic link, by which other users could choose the file: remove it, or %s", path, k.noLink)
	default:
		return nil, err
	}
	defer func() { _ = file.Close() }() // opened for reading
	info, err := file.Stat()
	switch {
	case err != nil:
	case info.Mode().IsRegular():
		err = k.check(path, info)
	case !isInherited(path):
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("it is not a regular file")}
	}
	if err != nil {
		return nil, err
	}
	contents, err := io.ReadAll(io.LimitReader(file, k.limit+1))
	if err == nil && int64(len(contents)) > k.limit {
		err = fmt.Errorf("%s: the file is too long: it has more than %d bytes", path, k.limit)
	}
	if encoding := UTF16(contents); encoding != "" {
		err = fmt.Errorf("%s: the file is in %s, as Windows PowerShell 5 writes it: write it again with Set-Content -Encoding ascii, "+
			"or convert it with iconv -f %[2]s -t UTF-8", path, encoding)
	}
	return bytes.TrimPrefix(contents, []byte("\ufeff")), err // the byte order mark that some editors add
}

// check rejects a file that other users can change or, if it is private, read. Where owners are not known, as on
// Windows, it returns nil.
func (k kind) check(path string, info fs.FileInfo) error {
	uid, _, known := ownerOf(info)
	switch {
	case known && isForeign(uid):
		return fmt.Errorf("%s: other users can change it: it belongs to the user %d, and this process runs as %d; "+
			"run this as its owner, or chown it to root or to the user of this process", path, uid, os.Geteuid())
	case othersMay(info, groupWrites|othersWrite):
		return fmt.Errorf("%s: other users can change it: its mode is %#o; chmod go-w %[1]s after checking its contents", path, info.Mode().Perm())
	case k.private && othersMay(info, groupReads|othersRead):
		return fmt.Errorf("%s: other users can read it (mode %#o): chmod 0600, or, if one may have read it, remove it: then a new one is generated, and previous tokens are refused",
			path, info.Mode().Perm())
	}
	return nil
}

// CreateSecret is [Create] for a secret. Where files have no permissions of their own, it fails before
// it writes anything.
func CreateSecret(path string, contents []byte) error {
	return Create(path, func(file *os.File) error {
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if othersMay(info, groupReads|groupWrites|othersRead|othersWrite) {
			return fmt.Errorf("create %s: the file system keeps no permissions, so other users could read the secret: set JWT_SECRET, name a database on another file system in STORAGE_URL, or mount this one with umask=077 (WSL: with metadata)", path)
		}
		_, err = file.Write(contents)
		return err
	})
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

// othersMay reports whether users outside the groups of this process have one of the permissions.
func othersMay(info fs.FileInfo, permissions fs.FileMode) bool {
	_, gid, known := ownerOf(info)
	if groups, _ := os.Getgroups(); gid == os.Getegid() || slices.Contains(groups, gid) {
		permissions &^= groupReads | groupWrites
	}
	return known && info.Mode().Perm()&permissions != 0
}

// isInherited reports whether a path refers to an inherited descriptor, as for <(command)
// in a shell. A pipe or terminal there is trusted regardless of its mode.
func isInherited(path string) bool {
	clean := filepath.ToSlash(filepath.Clean(path))
	return clean == "/dev/stdin" || strings.HasPrefix(clean, "/dev/fd/") || strings.HasPrefix(clean, "/proc/self/fd/")
}

// isName reports whether path is the name of a file, rather than a secret or a URL in its place: in a
// directory that exists, or with the usual extension of a key.
func isName(path string) bool {
	if dir := filepath.Dir(path); dir != "." {
		_, err := os.Lstat(dir)
		return err == nil
	}
	switch filepath.Ext(path) {
	case ".pem", ".key", ".crt", ".json", ".txt":
		return true
	}
	return false
}

// WithoutSecret returns an error of opening path, with its name only if it exists or passes isName.
func WithoutSecret(path string, err error) error {
	failure, ok := errors.AsType[*fs.PathError](err)
	if _, statErr := os.Lstat(path); !ok || statErr == nil || isName(path) {
		return err
	}
	return fmt.Errorf("%w (its name is not shown, as it may be a secret)", failure.Err)
}
