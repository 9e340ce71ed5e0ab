//go:build unix

package bbolt

import (
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

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

// TestPipes checks that no function waits for the writer of a named pipe in the place of a
// database. A copy does not replace the pipe.
func TestPipes(t *testing.T) {
	t.Parallel()
	path, backup := newPath(t), backUp(t, newFile(t, 1))
	must.Do(t, syscall.Mkfifo(path, 0o600))
	notRegular := "database " + path + " is not a regular file: name another one"
	for name, tt := range map[string]struct {
		do   func() error
		want string
	}{
		"MayReplace": {func() error { return MayReplace(path) }, path + " is not a regular file: name another one"},
		"Restore":    {func() error { _, _, err := Restore(t.Context(), path, backup); return err }, notRegular},
		"open": {
			func() error { _, err := openStore(storage.Options{}, path); return err },
			notRegular,
		},
		"open for reading": {
			func() error { _, err := openStore(storage.Options{ReadOnly: true}, path); return err },
			notRegular,
		},
	} {
		result := make(chan error, 1)
		go func() { result <- tt.do() }()
		select {
		case err := <-result:
			if (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
				t.Errorf("%s: %v, want %q", name, err, tt.want)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s waits for the writer", name)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}

// TestSocket checks that a socket in the place of a database is refused as one.
func TestSocket(t *testing.T) {
	t.Chdir(t.TempDir()) // a socket has a short path
	listener := must.Get((&net.ListenConfig{}).Listen(t.Context(), "unix", "plants.db"))(t)
	defer func() { _ = listener.Close() }()
	if _, err := openStore(storage.Options{ReadOnly: true}, "plants.db"); err == nil || !strings.Contains(err.Error(), "is not a regular file") {
		t.Errorf("open: %v", err)
	}
}
