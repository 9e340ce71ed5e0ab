package crash

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// TestCommandsWithJournal runs the commands on a database that a killed server has left
// with a journal: they see all plants, and commands that only read change no file.
func TestCommandsWithJournal(t *testing.T) {
	t.Parallel()
	left := newPending(t)
	backup, more := backupOf(t), moreLines(t)
	for _, tt := range []struct {
		args   []string
		text   string // on stdout
		writes bool
	}{
		{[]string{"plants", "count"}, "400\n", false},
		{[]string{"plants", "list", "--limit", "1000"}, lines(t), false},
		{[]string{"plants", "export"}, lines(t), false},
		{[]string{"plants", "get", fmt.Sprint(aPendingID(t, left))}, "plant ", false},
		{[]string{"check"}, "400 plants are intact, 0 findings", false},
		{[]string{"backup", "copy.db"}, "400 plants are in copy.db", true},
		{[]string{"plants", "import", more}, "", true},
		{[]string{"restore", "--force", backup}, "", true},
	} {
		t.Run(strings.Join(tt.args[:min(2, len(tt.args))], " "), func(t *testing.T) {
			t.Parallel()
			path := copyDatabase(t, left)
			before := readAll(t, path)
			dir := filepath.Dir(filepath.Dir(path))
			out, err := plantstore.Command(t, dir, nil, tt.args...).CombinedOutput()
			if err != nil || !strings.Contains(string(out), tt.text) {
				t.Errorf("%v, %.2000s, want %.200q", err, out, tt.text)
			}
			if after := readAll(t, path); (before != after) != tt.writes {
				t.Errorf("the files have changed: %v", before != after)
			}
			wantCommand(t, dir, 0, "", "check")
			wantKept(t, path, tt.args[0] == "restore")
			if tt.args[0] == "backup" {
				wantPlants(t, filepath.Join(dir, "copy.db"), stored)
			}
		})
	}
}

// wantKept checks that a restore has kept the old database with its journal.
func wantKept(t *testing.T, path string, want bool) {
	t.Helper()
	kept, err := filepath.Glob(path + ".replaced-*Z")
	must(t, err)
	if len(kept) > 0 != want {
		t.Fatalf("kept: %q", kept)
	}
	for _, path := range kept {
		wantPlants(t, path, stored)
	}
}

// wantPlants checks that a database has exactly n plants.
func wantPlants(t *testing.T, path string, want int) {
	t.Helper()
	out, err := plantstore.Command(t, t.TempDir(), nil, "plants", "count", "--storage-url", path).CombinedOutput()
	if err != nil || string(out) != fmt.Sprintln(want) {
		t.Errorf("%s: %v, %s, want %d plants", path, err, out, want)
	}
}

// TestCommandsWithoutTheirJournal runs the commands on a database with a missing or corrupt
// journal. They refuse it and change no file, except for restore.
func TestCommandsWithoutTheirJournal(t *testing.T) {
	t.Parallel()
	left := newPending(t)
	backup, more := backupOf(t), moreLines(t)
	for name, harm := range map[string]func(journal string) error{
		"missing": os.Remove,
		"corrupt": func(journal string) error {
			file, err := os.ReadFile(journal)
			must(t, err)
			file[journalBlock+batchHeader+5] ^= 1
			return os.WriteFile(journal, file, 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := copyDatabase(t, left)
			must(t, harm(path+".journal"))
			dir, before := filepath.Dir(filepath.Dir(path)), readAll(t, path)
			for _, args := range [][]string{
				{"plants", "count"},
				{"plants", "list"},
				{"plants", "get", "0"},
				{"plants", "export", "out.jsonl"},
				{"plants", "import", more},
				{"backup", "copy.db"},
			} {
				wantCommand(t, dir, 1, "plants.db.journal", args...)
			}
			wantRefusal(t, path, "serve")
			wantCommand(t, dir, 1, "data/plants.db is corrupt", "check")
			if out, _ := plantstore.Command(t, dir, nil, "check").Output(); !strings.HasPrefix(string(out), "database data/plants.db may lack plants") { // the exit code was checked
				t.Errorf("check prints %q", out)
			}
			if readAll(t, path) != before {
				t.Error("the files have changed")
			}
			wantCommand(t, dir, 0, "", "restore", "--force", backup)
			wantCommand(t, dir, 0, "", "check")
			s := plantstore.Start(t, plantstore.Options{Dir: dir})
			s.Stop()
			wantPlants(t, path, 1)
		})
	}
}

// TestServeWithOtherJournal starts a server with a different journal size than before the kill:
// it has all plants, and continues.
func TestServeWithOtherJournal(t *testing.T) {
	t.Parallel()
	left := newPending(t)
	plants := catalogue()
	for _, size := range []string{"0", "131072", "1048576", "67108864"} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			path := copyDatabase(t, left)
			s := newSite(t, filepath.Dir(filepath.Dir(path)), "JOURNAL_BYTES="+size)
			info, err := os.Stat(path + ".journal")
			if size == "0" && !os.IsNotExist(err) || size != "0" && (err != nil || fmt.Sprint(info.Size()) > size) {
				t.Errorf("the journal: %v, %v", info, err)
			}
			for id := range plants {
				if a, err := s.server.TryPost(s.token, fmt.Sprintf(`{"id":%d,"name":"other"}`, id)); err != nil || a.Code != 409 {
					t.Fatalf("id %d: %+v, %v", id, a, err)
				}
			}
			s.server.Kill()
			s.restart()
			s.verify(0)
			s.check()
			wantPlants(t, path, stored+len(s.acknowledged))
		})
	}
}

// backupOf creates a database with one plant.
func backupOf(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "backup.db")
	store, err := bbolt.OpenFile(path, storage.Options{})
	must(t, err)
	for id, plant := range catalogue() {
		must(t, store.Create(t.Context(), id, plant))
		break
	}
	must(t, store.Close())
	return path
}

// moreLines creates a file with a plant that is not in the catalogue.
func moreLines(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "more.jsonl")
	must(t, os.WriteFile(path, []byte(`{"id":9223372036854775807,"name":"new"}`+"\n"), 0o600))
	return path
}

// lines returns the first lines of an export of the catalogue.
func lines(t *testing.T) string {
	t.Helper()
	return fmt.Sprintf(`{"id":%d,"name":`, slices.Min(slices.Collect(maps.Keys(catalogue()))))
}

// aPendingID returns the id of a plant that is in the journal only.
func aPendingID(t *testing.T, path string) (id int64) {
	t.Helper()
	journal, err := os.ReadFile(path + ".journal")
	must(t, err)
	for shift := range 8 {
		id |= int64(journal[journalBlock+batchHeader+shift]) << (8 * shift)
	}
	return id
}

// readAll returns the contents of the files of a database.
func readAll(t *testing.T, path string) string {
	t.Helper()
	var all strings.Builder
	names, err := filepath.Glob(path + "*")
	must(t, err)
	for _, name := range names {
		file, err := os.ReadFile(name)
		must(t, err)
		fmt.Fprintln(&all, name, len(file))
		all.Write(file)
	}
	return all.String()
}
