//go:build unix

package durable_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"plantstore/internal/durable"
)

// What root replaces stays its owner's, even if it is moved away meanwhile, and
// what root makes belongs to whom the folder does.
func TestRootKeepsOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if os.Getenv("CI") == "true" {
			t.Fatal("NOT CHECKED: only root can give files away")
		}
		t.Skip("only root can give files away")
	}
	const owner = 65532
	for name, tt := range map[string]struct {
		make   func(string, fs.FileMode, func(string) error) error
		exists bool
	}{
		"a file": {durable.Replace, true}, "the folder": {durable.Replace, false}, "the folder of a new one": {durable.Create, false},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "file")
		of := dir
		if tt.exists {
			of = path
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Chown(of, owner, owner); err != nil {
			t.Fatal(err)
		}
		write := func(tmp string) error {
			if tt.exists {
				return errors.Join(os.Rename(path, path+".kept"), put("new")(tmp))
			}
			return put("new")(tmp)
		}
		if err := tt.make(path, 0o600, write); err != nil {
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
