//go:build unix

package bbolt

import (
	"errors"
	"os"
	"testing"

	"plantstore/storage"
)

// TestLockOfReplacedFile checks that the lock of a file that was replaced before it was locked
// does not lock the new file.
func TestLockOfReplacedFile(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := lockFile(file, path); err != nil {
		t.Errorf("lockFile: %v", err)
	}
	if err := os.Rename(newFile(t, 2), path); err != nil {
		t.Fatal(err)
	}
	if err := lockFile(file, path); !errors.Is(err, storage.ErrLocked) {
		t.Errorf("lockFile of a replaced file: %v, want: %v", err, storage.ErrLocked)
	}
	unlock, err := lock(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unlock(); err != nil {
		t.Error(err)
	}
}
