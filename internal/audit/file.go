package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// File returns what opens the file at path for a [Log]: to append to it, and made
// for its owner alone if it is not there. A last line that a crash has cut short
// gets its end first. A file that begins as no audit log does is refused with
// [ErrForeign], and so is a pipe. A device, such as a terminal, is taken as it is.
func File(path string) func() (Target, error) {
	return func() (Target, error) {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the operator names the file
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

// ErrForeign is the error of a file that is no audit log.
var ErrForeign = errors.New("it is no audit log, and nothing was written to it: name another file")

// prepare returns the target that an open file is.
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
	if err := checkForm(file, info.Size()); err != nil {
		return nil, err
	}
	return newRegular(file), endLine(file, info.Size())
}

// A regular is a target that keeps what is written to it.
type regular struct {
	*os.File

	nameless bool // it had no name when it was opened, as /dev/stdout leads to
}

func newRegular(file *os.File) regular { return regular{file, isRemoved(file)} }

// Removed implements [Target].
func (r regular) Removed() bool { return !r.nameless && isRemoved(r.File) }

// A device is a target that cannot be synced, such as a terminal.
type device struct{ *os.File }

// Sync implements [Target].
func (device) Sync() error { return nil }

// Removed implements [Target].
func (device) Removed() bool { return false }

// checkForm refuses a file of that size that begins as no audit log does.
func checkForm(file *os.File, size int64) error {
	begin := make([]byte, min(size, int64(len(lineStart))))
	if _, err := file.ReadAt(begin, 0); err != nil {
		return err
	}
	if !strings.HasPrefix(lineStart, string(begin)) {
		return ErrForeign
	}
	return nil
}

// endLine ends the last line of a file of that size.
func endLine(file *os.File, size int64) error {
	last := make([]byte, 1)
	_, err := file.ReadAt(last, size-1)
	if err == nil && last[0] != '\n' {
		_, err = file.WriteString("\n")
	}
	return err
}

// Stream returns what opens w for a [Log], which does not close it.
func Stream(w io.Writer) func() (Target, error) {
	return func() (Target, error) { return stream{w}, nil }
}

// A stream is a target that is no file of ours.
type stream struct{ io.Writer }

// Sync implements [Target].
func (stream) Sync() error { return nil }

// Removed implements [Target].
func (stream) Removed() bool { return false }

// Close implements [Target].
func (stream) Close() error { return nil }
