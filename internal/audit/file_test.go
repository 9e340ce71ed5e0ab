package audit_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/internal/audit"
	"plantstore/models"
)

// TestFile checks that a file has mode 0600 and is appended to. A line that a crash has
// truncated does not corrupt the next one.
func TestFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	create := func(id int64) {
		t.Helper()
		log, err := audit.Open(audit.File(path), silent())
		if err != nil {
			t.Fatal(err)
		}
		store := newStore(&fakeEngine{}, log)
		if err := errors.Join(store.Create(t.Context(), id, models.Plant{}), store.Close()); err != nil {
			t.Error(err)
		}
	}
	create(1)
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("the mode is %v: %v", info.Mode(), err)
	}
	create(2)
	if got := ids(notes(t, read(t, path))); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("noted: %v", got)
	}
	const torn = `{"time":`
	if err := os.WriteFile(path, []byte(torn), 0o600); err != nil {
		t.Fatal(err)
	}
	create(3)
	rest, cut := strings.CutPrefix(read(t, path), torn+"\n")
	if got := ids(notes(t, rest)); !cut || !slices.Equal(got, []int64{3}) {
		t.Errorf("after a torn line: %q", read(t, path))
	}
}

func TestOpenFails(t *testing.T) {
	t.Parallel()
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "no", "audit.jsonl")} {
		if _, err := audit.Open(audit.File(path), silent()); err == nil {
			t.Errorf("%s was opened", path)
		}
	}
}

// TestForeign checks that a file that is not an audit log is refused and stays unchanged. A
// truncated first line is accepted.
func TestForeign(t *testing.T) {
	t.Parallel()
	for text, foreign := range map[string]bool{
		"\n": true, "a secret": true, `{"id":1}` + "\n": true, "\x00\x00\x00\x00": true, `{"timing":`: true,
		"": false, `{"ti`: false, `{"time":"2026`: false,
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		target, err := audit.File(path)()
		if errors.Is(err, audit.ErrForeign) != foreign {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil {
			_ = target.Close()
			continue
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("%q is now %q, %v", text, got, err)
		}
	}
}

// TestIsLog checks which files are audit logs.
func TestIsLog(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]bool{
		`{"time":"2026-01-31T12:00:00.000Z"}` + "\n": true, `{"ti`: true, "": false, `{"id":1}` + "\n": false,
	} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := audit.IsLog(path); got != want {
			t.Errorf("IsLog of %q: %t", text, got)
		}
	}
	for _, path := range []string{dir, filepath.Join(dir, "none")} {
		if audit.IsLog(path) {
			t.Errorf("%s is an audit log", path)
		}
	}
}
