package bbolt

import (
	"errors"
	"io/fs"
	"os"
	"testing"

	"plantstore/storage"
)

// TestMissingDatabase checks that a database that has vanished from next to its watermark is
// not replaced by an empty one, unless it never had a plant.
func TestMissingDatabase(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		plants int
		change func(watermark []byte) []byte
		want   string // in the refusal; empty: there is none
	}{
		"with plants":     {plants: 3, want: "has 3 commits: put the database back, restore a backup, or, to start with an empty store, move the watermark away"},
		"without plants":  {plants: 0},
		"torn watermark":  {plants: 3, change: func(watermark []byte) []byte { return watermark[:20] }, want: "is there"},
		"empty watermark": {plants: 3, change: func([]byte) []byte { return nil }, want: "is there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newFile(t, tt.plants)
			watermark := snapshot(t, path+watermarkSuffix)
			if tt.change != nil {
				watermark = tt.change(watermark)
			}
			if err := errors.Join(os.WriteFile(path+watermarkSuffix, watermark, filePerm), os.Remove(path)); err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				mustOpen(t, path)
				return
			}
			for _, use := range []func() error{
				func() error { _, err := openStore(storage.Options{}, path); return err },
				func() error { _, err := openStore(storage.Options{ReadOnly: true}, path); return err },
				func() error { _, _, err := Compact(t.Context(), path); return err },
			} {
				err := use()
				wantLine(t, path, err, "is missing, although its watermark "+path+watermarkSuffix+" "+tt.want)
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a database was made: %v", err)
			}
			if string(snapshot(t, path+watermarkSuffix)) != string(watermark) {
				t.Error("the watermark has changed")
			}
			if err := os.Remove(path + watermarkSuffix); err != nil {
				t.Fatal(err)
			}
			mustOpen(t, path) // the remedy of the error
		})
	}
}
