//go:build unix

package durable_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plantstore/internal/durable"
)

// What root replaces stays its owner's.
func TestReplaceKeepsOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root can give files away")
	}
	const owner = 65532
	for name, exists := range map[string]bool{"a file": true, "the folder": false} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		of := dir
		if exists {
			of = path
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(of, owner, owner); err != nil {
			t.Fatal(err)
		}
		if err := durable.Replace(path, 0o600, put("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); !ok || stat.Uid != owner || stat.Gid != owner {
			t.Errorf("as %s: it belongs to %+v", name, info.Sys())
		}
	}
}
