package crash

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// TestKilledCommands kills commands at random moments, some of them next to a server: no plant is
// lost, an output file is the old one or complete, and the command can be repeated.
func TestKilledCommands(t *testing.T) {
	t.Parallel()
	_, file := newDatabase(t)
	inputs := t.TempDir()
	backup, more := filepath.Join(inputs, databaseFile), filepath.Join(inputs, "more.jsonl")
	must.Do(t, os.WriteFile(more, []byte(`{"id":9223372036854775807,"name":"new"}`+"\n"), 0o600))
	plantstore.Run(t, inputs, "plants", "import", "--quiet", more)
	for name, tt := range map[string]struct {
		args   []string
		server bool
	}{
		"restore":          {[]string{"restore", "--force", backup}, false},
		"backup":           {[]string{"backup", "out"}, false},
		"backup by server": {[]string{"backup", "out"}, true},
		"export":           {[]string{"plants", "export", "--format", "jsonl", "out"}, false},
		"export by server": {[]string{"plants", "export", "--format", "jsonl", "out"}, true},
		"import":           {[]string{"plants", "import", more}, false},
		"import by server": {[]string{"plants", "import", more}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			random, ended := newRandom(t), 0
			for range plantstore.Torture(6, 200) {
				dir := t.TempDir()
				path := filepath.Join(dir, databaseFile)
				writeDatabase(t, dir, file)
				plantstore.Run(t, dir, "plants", "export", "--quiet", "--format", "jsonl", "all")
				var server *plantstore.Server
				if tt.server {
					server = plantstore.Start(t, plantstore.Options{Dir: dir})
				}
				cmd := plantstore.Command(t, dir, nil, tt.args...)
				must.Do(t, cmd.Start())
				time.Sleep(time.Duration(random.IntN(60_000)) * time.Microsecond) // the moment must be random
				_ = cmd.Process.Kill()
				if cmd.Wait() == nil {
					ended++
				}
				checkOutput(t, dir)
				if server != nil {
					server.Stop()
				}
				wantCommand(t, dir, 0, "", "check")
				plantstore.Start(t, plantstore.Options{Dir: dir}).Stop()
				// The database that a restore has replaced; before that it is another name of the same file.
				kept := append(must.Get(filepath.Glob(path+".replaced-*Z"))(t), path)[0]
				if missing := missingFrom(t, dir, kept); missing > 0 {
					t.Errorf("%d plants are lost", missing)
				}
				if tt.args[0] == "restore" {
					continue
				}
				_ = os.Remove(filepath.Join(dir, "out")) // it may be complete
				plantstore.Run(t, dir, tt.args...)
				if temporary, err := filepath.Glob(filepath.Join(dir, ".*.tmp")); err != nil || temporary != nil {
					t.Errorf("the command has left %q, %v", temporary, err)
				}
			}
			t.Logf("%d commands had exited before the kill", ended)
		})
	}
}

// checkOutput checks that the output of a killed command is complete if it exists.
func checkOutput(t *testing.T, dir string) {
	t.Helper()
	out := filepath.Join(dir, "out")
	text, err := os.ReadFile(out)
	if err != nil {
		return
	}
	if all, _ := os.ReadFile(filepath.Join(dir, "all")); string(text) == string(all) {
		return
	}
	if n := plantstore.Run(t, dir, "plants", "count", "--storage-url", out); n != fmt.Sprintln(stored) {
		t.Errorf("the output has %s plants, want %d", n, stored)
	}
}

// missingFrom returns how many of the plants in the file all are not in a database.
func missingFrom(t *testing.T, dir, path string) (n int) {
	t.Helper()
	all := must.Get(os.ReadFile(filepath.Join(dir, "all")))(t)
	there := plantstore.Run(t, dir, "plants", "export", "--format", "jsonl", "--storage-url", path, "-")
	for line := range strings.Lines(string(all)) {
		if !strings.Contains(there, line) {
			n++
		}
	}
	return n
}
