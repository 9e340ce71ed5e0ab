package crash

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/volume"
	"plantstore/internal/must"
)

// TestCommandsWithoutSpace runs the commands that write files on a full disk, and on a read-only
// one: each fails with a remedy, does not change existing files, and leaves no new ones.
func TestCommandsWithoutSpace(t *testing.T) {
	t.Parallel()
	v := volume.New(t, 16<<20, volume.Ext4()...)
	elsewhere := t.TempDir()
	plants := filepath.Join(elsewhere, "plants.jsonl")
	must.Do(t, os.WriteFile(plants, manyPlants(20_000, "Monstera"), 0o600))
	wantCommand(t, v.Dir, 0, "", "plants", "import", "--quiet", plants)
	wantCommand(t, v.Dir, 0, "", "backup", "--quiet", filepath.Join(elsewhere, "copy.db"))
	wantCommand(t, v.Dir, 0, "", "plants", "export", "--quiet", "old.jsonl")
	commands := map[string][]string{
		"backup":     {"backup", "new.db"},
		"restore":    {"restore", "--force", filepath.Join(elsewhere, "copy.db")},
		"new":        {"restore", "--storage-url", "new/plants.db", filepath.Join(elsewhere, "copy.db")},
		"export":     {"plants", "export", "--force", "old.jsonl"},
		"new export": {"plants", "export", "new.jsonl"},
	}
	fillWith(t, filepath.Join(v.Dir, "ballast"))
	contents := func() string {
		var names []string
		must.Do(t, filepath.WalkDir(v.Dir, func(path string, _ os.DirEntry, err error) error {
			names = append(names, path)
			return err
		}))
		return strings.Join(names, " ")
	}
	before := contents()
	for name, args := range commands {
		wantCommand(t, v.Dir, 1, "no space left on device; free some space on that disk, and try again", args...)
		if after := contents(); name != "new" && after != before {
			t.Errorf("%s: the directory contains %s, before it contained %s", name, after, before)
		}
	}
	v.Unmount()
	v.Mount("ro")
	for _, args := range commands {
		wantCommand(t, v.Dir, 1, "read-only file system; make it writable, or name another place", args...)
	}
	wantCommand(t, v.Dir, 0, "", "plants", "count")
	wantCommand(t, v.Dir, 0, "", "check")
}

// manyPlants returns n lines of plants with that name.
func manyPlants(n int, name string) []byte {
	var text bytes.Buffer
	for id := range n {
		fmt.Fprintf(&text, `{"id":%d,"name":"%s"}`+"\n", id, name)
	}
	return text.Bytes()
}
