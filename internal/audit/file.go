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
// [ErrForeign], and so is a pipe.
func File(path string) func() (Target, error) {
	return func() (Target, error) {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600) //nolint:gosec // the operator names the file
		if err != nil {
			return nil, err
		}
		err = checkForm(file)
		if err == nil {
			err = endLine(file)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
		}
		if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
			return device{file}, err
		}
		return file, nil
	}
}

// A device is a target that cannot be synced, such as a terminal.
type device struct{ *os.File }

// Sync implements [Target].
func (device) Sync() error { return nil }

// ErrForeign is the error of a file that is no audit log.
var ErrForeign = errors.New("it is no audit log, and nothing was written to it: name another file")

// checkForm refuses what cannot be an audit log.
func checkForm(file *os.File) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if mode := info.Mode().Type(); mode != 0 && mode&fs.ModeCharDevice == 0 {
		return ErrForeign
	}
	begin := make([]byte, min(info.Size(), int64(len(lineStart))))
	if _, err := file.ReadAt(begin, 0); err != nil && len(begin) > 0 {
		return err
	}
	if !strings.HasPrefix(lineStart, string(begin)) {
		return ErrForeign
	}
	return nil
}

// endLine ends the last line of a file.
func endLine(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := file.ReadAt(last, info.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
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

// Close implements [Target].
func (stream) Close() error { return nil }
