package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"

	"plantstore/internal/atomicfile"
)

// File returns a function that opens the file at path for a [Log], to append to it. A
// new file has mode 0600. A line that a crash has truncated gets a line end. Pipes, and
// files that don't begin like an audit log, are refused with [ErrForeign]; devices such
// as terminals are accepted. Links and directories follow the rules of
// [atomicfile.OpenFile].
func File(path string) func() (Target, error) {
	return func() (Target, error) {
		file, err := atomicfile.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		target, err := prepare(file)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
		}
		return target, nil
	}
}

// ErrForeign is returned for a file that is not an audit log.
var ErrForeign = errors.New("not an audit log, left unchanged: name another file")

// IsLog reports whether path names a file, not empty, that begins like an audit log.
func IsLog(path string) bool {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator names the file, which may be a pipe
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // it was only read
	info, err := file.Stat()
	return err == nil && info.Mode().IsRegular() && info.Size() > 0 && begins(file, info.Size()) == nil
}

func prepare(file *os.File) (Target, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode().Type(); {
	case mode&fs.ModeCharDevice != 0:
		return stream{file, file.Close}, nil
	case mode != 0:
		return nil, ErrForeign
	}
	return regular{file, isRemoved(file)}, resume(file, info.Size())
}

// resume returns [ErrForeign] unless a file is empty or begins like an audit log, and appends
// a line end if the last line has none.
func resume(file *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	if err := begins(file, size); err != nil {
		return err
	}
	last := make([]byte, 1)
	_, err := file.ReadAt(last, size-1)
	if err == nil && last[0] != '\n' {
		_, err = file.WriteString("\n")
	}
	return err
}

// begins returns [ErrForeign] unless a file of size bytes begins like an audit log.
func begins(file *os.File, size int64) error {
	begin := make([]byte, min(size, int64(len(lineStart))))
	if _, err := file.ReadAt(begin, 0); err != nil {
		return err
	}
	if !strings.HasPrefix(lineStart, string(begin)) {
		return ErrForeign
	}
	return nil
}

type regular struct {
	*os.File

	nameless bool // it had no name when it was opened, as through /dev/stdout
}

func (r regular) Removed() bool { return !r.nameless && isRemoved(r.File) }

// Stream returns a function that opens w for a [Log], which does not close it.
func Stream(w io.Writer) func() (Target, error) {
	return func() (Target, error) { return stream{w, func() error { return nil }}, nil }
}

// A stream cannot be synced or removed: a character device, such as a terminal, or a writer of
// the caller.
type stream struct {
	io.Writer

	close func() error
}

func (stream) Sync() error { return nil }

func (stream) Removed() bool { return false }

func (s stream) Close() error { return s.close() }
