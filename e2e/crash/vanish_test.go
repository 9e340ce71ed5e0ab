package crash

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestVanishing takes the file from a server that runs: it must take no more
// plants, and end with a line that says why.
func TestVanishing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		harm func(path string) error
		want string
	}{
		"removed":  {os.Remove, "was removed or replaced"},
		"replaced": {replace, "was removed or replaced"},
		"emptied":  {func(path string) error { return os.Truncate(path, 0) }, "was cut short"},
		"cut":      {func(path string) error { return os.Truncate(path, 3*4096) }, "was cut short"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, t.TempDir())
			for n := range 20 {
				s.create(s.body(1, n))
			}
			if len(s.acknowledged) != 20 {
				t.Fatalf("only %d plants were stored", len(s.acknowledged))
			}
			must(t, tt.harm(filepath.Join(s.server.Dir, databaseFile)))
			if s.create(s.body(2, 0)) {
				t.Error("a plant was acknowledged that no next start will find")
			}
			wantEnd(t, s, tt.want)
		})
	}
}

// wantEnd waits for the server to end by itself, which it must say the reason of.
func wantEnd(t *testing.T, s *site, want string) {
	t.Helper()
	defer s.server.Kill() // its end was wanted
	select {
	case <-s.server.Exited():
	case <-time.After(patience):
		t.Fatalf("the server was still there %v after its file had gone", patience)
	}
	last := lastLine(s.server.Log())
	if s.server.ExitCode() != 1 || !strings.HasPrefix(last, "plantstore: ") || !strings.Contains(last, want) {
		t.Errorf("exit code %d, last line %q, want 1 and %q", s.server.ExitCode(), last, want)
	}
}

// replace puts a copy of a file in its place.
func replace(path string) error {
	file, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".copy", file, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".copy", path)
}

// TestSecondInstance starts another server on a file that is in use: it must name
// the file and go, and the first one must not notice.
func TestSecondInstance(t *testing.T) {
	t.Parallel()
	s := newSite(t, t.TempDir())
	wantRefusal(t, filepath.Join(s.server.Dir, databaseFile), "serve")
	s.verify(0)
	s.check()
}

// TestVanishedWhileStopped removes the file of a server that is not running: the
// next one must not go on with an empty store by itself.
func TestVanishedWhileStopped(t *testing.T) {
	t.Parallel()
	s := newSite(t, t.TempDir())
	s.create(s.body(1, 0))
	s.server.Stop()
	path := filepath.Join(s.server.Dir, databaseFile)
	must(t, os.Remove(path))
	for range 2 {
		wantRefusal(t, path, "serve")
		wantRefusal(t, path, "check")
	}
	must(t, os.Remove(path+".mark")) // as the refusal says
	s.restart()
	if !s.create(s.body(1, 0)) {
		t.Error("the new store takes no plant")
	}
	s.check()
}
