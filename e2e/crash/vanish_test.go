package crash

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestVanishing removes the database or its journal while a server runs: the server must exit with
// a line that gives the reason, even without creates.
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
		for victim, file := range map[string]string{"database": databaseFile, "journal": databaseFile + ".journal"} {
			for name, env := range journals() {
				if victim == "journal" && env == "JOURNAL_BYTES=0" {
					continue
				}
				t.Run(victim+" "+harm+" "+name, func(t *testing.T) {
					t.Parallel()
					testVanishing(t, newSite(t, t.TempDir(), env), file, tt.harm, tt.want...)
				})
			}
		}
	}
}

func testVanishing(t *testing.T, s *site, file string, harm func(path string) error, want ...string) {
	t.Helper()
	for n := range 20 {
		s.create(s.body(1, n))
	}
	if len(s.acknowledged) != 20 {
		t.Fatalf("only %d plants were stored", len(s.acknowledged))
	}
	must(t, harm(filepath.Join(s.server.Dir, file)))
	if s.random.IntN(2) > 0 {
		s.create(s.body(2, 0)) // it may be acknowledged: the server checks its files once a second
	}
	wantEnd(t, s, want...)
}

// wantEnd waits for the server to exit, and checks that it logs one of the reasons.
func wantEnd(t *testing.T, s *site, want ...string) {
	t.Helper()
	defer s.server.Kill() // it has exited as expected
	select {
	case <-s.server.Exited():
	case <-time.After(patience):
		t.Fatalf("the server still ran %v after the removal of its file", patience)
	}
	last := lastLine(s.server.Log())
	logged := func(reason string) bool { return strings.Contains(last, reason) }
	if s.server.ExitCode() != 1 || !strings.HasPrefix(last, "plantstore: ") || !slices.ContainsFunc(want, logged) {
		t.Errorf("exit code %d, last line %q, want 1 and %q", s.server.ExitCode(), last, want)
	}
}

// replace replaces a file by a copy of another one.
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
