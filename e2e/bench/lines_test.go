package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestEngineLines(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, name := range []string{
		"storage/bbolt/a.go", "storage/bbolt/inner/b.go", "internal/journal/c.go", // these count
		"storage/bbolt/a_test.go", "storage/bbolt/notes.md", "storage/etcd/d.go", "e2e/journal/e.go",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("one\ntwo\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := engineLines(root)
	if err != nil || got != 6 {
		t.Errorf("%d lines, %v; want 6", got, err)
	}
}
