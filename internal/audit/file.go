package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

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

// prepare returns the target for an open file.
func prepare(file *os.File) (Target, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	switch mode := info.Mode().Type(); {
	case mode&fs.ModeCharDevice != 0:
		return device{file}, nil
	case mode != 0:
		return nil, ErrForeign
	case info.Size() == 0:
		return newRegular(file), nil
	}
	if err := checkFormat(file, info.Size()); err != nil {
		return nil, err
	}
	return newRegular(file), endLine(file, info.Size())
}

// A regular is a regular file.
type regular struct {
	*os.File

	nameless bool // it had no name when it was opened, as through /dev/stdout
}

func newRegular(file *os.File) regular { return regular{file, isRemoved(file)} }

// Removed implements [Target].
func (r regular) Removed() bool { return !r.nameless && isRemoved(r.File) }

// A device is a character device, such as a terminal. It cannot be synced.
type device struct{ *os.File }

// Sync implements [Target].
func (device) Sync() error { return nil }

// Removed implements [Target].
func (device) Removed() bool { return false }

// checkFormat returns [ErrForeign] unless the file begins like an audit log.
func checkFormat(file *os.File, size int64) error {
	begin := make([]byte, min(size, int64(len(lineStart))))
	if _, err := file.ReadAt(begin, 0); err != nil {
		return err
	}
	if !strings.HasPrefix(lineStart, string(begin)) {
		return ErrForeign
	}
	return nil
}

// endLine appends a line end if the last line has none.
func endLine(file *os.File, size int64) error {
	last := make([]byte, 1)
	_, err := file.ReadAt(last, size-1)
	if err == nil && last[0] != '\n' {
		_, err = file.WriteString("\n")
	}
	return err
}

// Stream returns a function that opens w for a [Log], which does not close it.
func Stream(w io.Writer) func() (Target, error) {
	return func() (Target, error) { return stream{w}, nil }
}

// A stream is a writer that belongs to the caller.
type stream struct{ io.Writer }

// Sync implements [Target].
func (stream) Sync() error { return nil }

// Removed implements [Target].
func (stream) Removed() bool { return false }

// Close implements [Target].
func (stream) Close() error { return nil }
