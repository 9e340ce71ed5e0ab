package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestRenameNoReplace tries what publish falls back on where there are no hard
// links.
func TestRenameNoReplace(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "path")
	for i, name := range []string{"first", "second"} {
		tmp := filepath.Join(dir, name)
		if err := os.WriteFile(tmp, []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
		err := renameNoReplace(tmp, path)
		if errors.Is(err, errors.ErrUnsupported) {
			t.Skip("this system has no such rename")
		}
		if i == 0 && err != nil || i == 1 && !errors.Is(err, fs.ErrExist) {
			t.Errorf("renameNoReplace of the %s: %v", name, err)
		}
	}
	if got, err := os.ReadFile(path); string(got) != "first" {
		t.Errorf("path holds %q, %v, want the first", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "second")); err != nil {
		t.Errorf("the second is gone: %v", err)
	}
}
