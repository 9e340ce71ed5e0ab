package bbolt

import (
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"slices"
	"strings"
	"syscall"

	bolterrors "go.etcd.io/bbolt/errors"

	"plantstore/internal/files"
	"plantstore/storage"
)

// A CorruptStoreError is returned by a function that refuses to use or to replace a corrupt
// store.
type CorruptStoreError struct {
	Report storage.Report // with at least one finding
}

// Error returns the first finding, with a remedy.
func (e *CorruptStoreError) Error() string {
	return e.Report.Corruption[0] + ": name another file, or restore a backup"
}

// Unwrap returns [storage.ErrCorrupt].
func (*CorruptStoreError) Unwrap() error { return storage.ErrCorrupt }

// A refusalError is the reason why a file cannot be opened, with a remedy unless it is corrupt. It follows
// the name of the file.
type refusalError struct {
	text    string
	corrupt bool // it is a corrupt plant store, or not a plant store
}

func (e refusalError) Error() string { return e.text }

func refusal(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...)}
}

func corrupt(format string, args ...any) error {
	return refusalError{text: fmt.Sprintf(format, args...), corrupt: true}
}

// explain returns a one-line error for the error of opening the file path, a
// *CorruptStoreError if it is corrupt.
func explain(path string, err error) error {
	if refused, ok := errors.AsType[refusalError](err); ok {
		line := fmt.Sprintf("database %s %s", path, refused.text)
		if refused.corrupt {
			return &CorruptStoreError{storage.Report{Corruption: []string{line}}}
		}
		return errors.New(line)
	}
	if errors.Is(err, bolterrors.ErrTimeout) {
		return fmt.Errorf("database %s is %w: try again when that has ended, or name another file", path, storage.ErrLocked)
	}
	if errors.Is(err, syscall.ENOMEM) {
		return fmt.Errorf("database %s cannot be mapped into memory: raise the limit of address space of this process (ulimit -v, LimitAS=)", path)
	}
	if failure, ok := errors.AsType[*fs.PathError](err); ok && failure.Path == path {
		err = files.Reason(err)
	}
	return fmt.Errorf("database %s cannot be opened: %w", path, err)
}

// NoSpace reports whether err means that the file could not grow: the file system is full,
// the quota used up, or the limit on the size of a file met. Some of bbolt's errors carry
// the text of the system's error only.
func NoSpace(err error) bool {
	full := []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG}
	if runtime.GOOS == "windows" {
		full = append(full, 39, 112) // ERROR_HANDLE_DISK_FULL, ERROR_DISK_FULL
	}
	return slices.ContainsFunc(full, func(full syscall.Errno) bool {
		return errors.Is(err, full) || strings.Contains(err.Error(), full.Error())
	})
}
