//go:build unix

package bbolt

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/must"
	"plantstore/storage"
)

// TestLockOfReplacedFile checks that the lock of a file that was replaced before it was locked
// does not lock the new file.
func TestLockOfReplacedFile(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	file := must.Get(os.Open(path))(t)
	defer func() { _ = file.Close() }()
	if err := lockFile(file, path); err != nil {
		t.Errorf("lockFile: %v", err)
	}
	must.Do(t, os.Rename(newFile(t, 2), path))
	if err := lockFile(file, path); !errors.Is(explain(path, err), storage.ErrLocked) {
		t.Errorf("lockFile of a replaced file: %v, want: %v", err, storage.ErrLocked)
	}
	unlock := must.Get(lock(path))(t)
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

// TestPipes checks that nothing waits for the writer of a named pipe in the place of a database, and that
// a copy does not replace the pipe.
func TestPipes(t *testing.T) {
	t.Parallel()
	path, backup := newPath(t), newFile(t, 1)
	must.Do(t, syscall.Mkfifo(path, 0o600))
	for name, do := range map[string]func() error{
		"MayReplace":       func() error { return MayReplace(path) },
		"Restore":          func() error { _, _, err := Restore(t.Context(), path, backup); return err },
		"open":             func() error { _, err := openStore(storage.Options{}, path); return err },
		"open for reading": func() error { _, err := openStore(storage.Options{ReadOnly: true}, path); return err },
	} {
		if err := do(); err == nil || !strings.HasSuffix(err.Error(), path+" is not a regular file: name another one") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}
