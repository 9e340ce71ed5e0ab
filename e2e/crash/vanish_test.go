package crash

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"plantstore/internal/must"
)

// TestVanishing removes the database while a server runs: the server must exit with a line that
// gives the reason, even without creates.
func TestVanishing(t *testing.T) {
	t.Parallel()
	// A commit in progress makes the file as long as before, with holes.
	cut := []string{"was cut short", "cannot be read or written"}
	for harm, tt := range map[string]struct {
		harm func(path string) error
		want []string
	}{
		"removed":  {os.Remove, []string{"was removed or replaced"}},
		"replaced": {replace, []string{"was removed or replaced"}},
		"emptied":  {func(path string) error { return os.Truncate(path, 0) }, cut},
		"cut":      {func(path string) error { return os.Truncate(path, 3*4096) }, cut},
	} {
		t.Run(harm, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, t.TempDir())
			for n := range 20 {
				if !s.create(1, n) {
					t.Fatalf("plant %d was not stored", n)
				}
			}
			must.Do(t, tt.harm(filepath.Join(s.Server.Dir, databaseFile)))
			if s.random.IntN(2) > 0 {
				s.create(2, 0) // it may be acknowledged: the server checks its files once a second
			}
			s.wantEnd(3, tt.want...)
		})
	}
}

// replace replaces a file by a copy of another one.
func replace(path string) error {
	file, err := os.ReadFile(path)
	return errors.Join(err, os.WriteFile(path+".copy", file, 0o600), os.Rename(path+".copy", path))
}
