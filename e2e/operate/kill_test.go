package operate

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

const (
	// killRounds is the number of kills of each command, and killPlants the number of plants
	// that it processes.
	killRounds = 6
	killPlants = 40_000
)

// A victim is a command that is killed, with a check of the result.
type victim struct {
	args   []string
	server bool   // a server is running meanwhile
	from   string // backup to restore before each round, if any, so that the command has something to do
	output string // output of a run without a kill, a regular expression
	check  func(t *testing.T, dir string)
}

// The backups: good.db has the plants of the first import; more.db has additional plants, in an
// order that leaves its pages half empty.
const (
	goodBackup = "good.db"
	moreBackup = "more.db"
	database   = "data/plants.db"
)

// TestKilledCommands kills each command at random moments of its run, as kill -9 does: the store
// and existing files stay intact, and the command can simply be repeated.
func TestKilledCommands(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]victim{
		"import":           {[]string{"plants", "import", "more.jsonl"}, false, goodBackup, "^40000 plants imported", nil},
		"import by server": {[]string{"plants", "import", "more.jsonl"}, true, goodBackup, "^40000 plants imported", nil},
		"export":           {[]string{"plants", "export", "out.jsonl"}, false, "", "^40000 plants", oldOrNew("out.jsonl")},
		"export by server": {[]string{"plants", "export", "out.jsonl"}, true, "", "^40000 plants", oldOrNew("out.jsonl")},
		"backup":           {[]string{"backup", "copy.db"}, false, "", "^40000 plants", completeCopy},
		"backup by server": {[]string{"backup", "copy.db"}, true, "", "^40000 plants", completeCopy},
		"restore":          {[]string{"restore", moreBackup}, false, goodBackup, "^80000 plants", oldOrRestored},
		"compact":          {[]string{"compact"}, false, moreBackup, "had [1-9][0-9]{5,} bytes and has [1-9][0-9]+", allPlants},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			killAgainAndAgain(t, v)
		})
	}
}

func killAgainAndAgain(t *testing.T, v victim) {
	t.Helper()
	dir := t.TempDir()
	plants := writePlants(t, killPlants)
	run(t, dir, "plants", "import", "--quiet", plants)
	run(t, dir, "backup", "--quiet", goodBackup)
	run(t, dir, "backup", "--quiet", "copy.db")
	run(t, dir, "plants", "export", "--quiet", "out.jsonl")
	writeMore(t, filepath.Join(dir, "more.jsonl"))
	run(t, dir, "plants", "import", "--quiet", "more.jsonl")
	run(t, dir, "backup", "--quiet", moreBackup)
	run(t, dir, "restore", "--quiet", goodBackup)
	random := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // no secret comes of it

	prepare(t, dir, v.from)
	start := time.Now()
	duration := func() time.Duration { return time.Since(start) }
	run(t, dir, v.args...) // measure the duration
	total := duration()
	for round := range killRounds {
		prepare(t, dir, v.from)
		var server *plantstore.Server
		if v.server {
			server = plantstore.Start(t, plantstore.Options{Dir: dir})
		}
		killAfter(t, dir, time.Duration(random.Int64N(int64(total)+1)), v.args...)
		if v.check != nil {
			v.check(t, dir)
		}
		if server != nil {
			server.Stop()
		}
		if out := run(t, dir, "check"); !strings.HasSuffix(out, " 0 findings\n") {
			t.Fatalf("round %d: check: %s", round, out)
		}
		if out := run(t, dir, "plants", "import", plants); !strings.HasPrefix(out, fmt.Sprintf("0 plants imported, %d were there already", killPlants)) {
			t.Fatalf("round %d: plants were lost: %s", round, out)
		}
	}
	prepare(t, dir, v.from)
	if out := run(t, dir, v.args...); !regexp.MustCompile(v.output).MatchString(out) {
		t.Errorf("the output is %q, want %s", out, v.output)
	}
	for _, pattern := range []string{".*.tmp", "data/.*.tmp"} {
		if left, err := fs.Glob(os.DirFS(dir), pattern); err != nil || len(left) > 0 {
			t.Errorf("the killed commands have left %q, %v", left, err)
		}
	}
	if v.check != nil {
		v.check(t, dir)
	}
}

// prepare creates a backup, and removes previous output.
func prepare(t *testing.T, dir, backup string) {
	t.Helper()
	if backup == "" {
		return
	}
	run(t, dir, "restore", "--quiet", backup)
	for _, kept := range keptFiles(t, dir) {
		if err := os.Remove(filepath.Join(dir, kept)); err != nil {
			t.Fatal(err)
		}
	}
}

// keptFiles returns the files that restore has kept.
func keptFiles(t *testing.T, dir string) []string {
	t.Helper()
	kept, err := fs.Glob(os.DirFS(dir), database+".replaced-*")
	if err != nil {
		t.Fatal(err)
	}
	return kept
}

// oldOrRestored checks that the store is the one before or after a restore of more.db, and that
// the old one exists in either case.
func oldOrRestored(t *testing.T, dir string) {
	t.Helper()
	kept := keptFiles(t, dir)
	switch count := run(t, dir, "plants", "count"); count {
	case fmt.Sprintln(killPlants):
	case fmt.Sprintln(2 * killPlants):
		if len(kept) != 1 {
			t.Fatalf("the database was restored, and the previous one is %v", kept)
		}
	default:
		t.Fatalf("%s plants are neither the old ones nor the new", count)
	}
	for _, name := range kept {
		wantComplete(t, dir, name, killPlants)
	}
}

// allPlants checks that the store has all plants of more.db, compact or not.
func allPlants(t *testing.T, dir string) {
	t.Helper()
	wantComplete(t, dir, database, 2*killPlants)
}

// wantComplete checks that a database is intact and has n plants.
func wantComplete(t *testing.T, dir, name string, plants int) {
	t.Helper()
	if out := run(t, dir, "check", "--storage-url", name); out != fmt.Sprintf("%d plants are intact, 0 findings\n", plants) {
		t.Fatalf("%s: %s", name, out)
	}
}

// killAfter starts a command and kills it after a while, unless it has exited.
func killAfter(t *testing.T, dir string, after time.Duration, args ...string) {
	t.Helper()
	cmd := plantstore.Command(t, dir, nil, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have exited
	defer timer.Stop()
	_ = cmd.Wait() // either result is correct
}

// writeMore writes plants with other ids, spread over the range of all ids.
func writeMore(t *testing.T, path string) {
	t.Helper()
	var text strings.Builder
	for i := range killPlants {
		fmt.Fprintf(&text, "{\"id\":%d,\"name\":\"more\"}\n", -1-int64(i)*7919)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// oldOrNew checks that an export is complete: the store has not changed, so the old one and the
// new one are the same.
func oldOrNew(name string) func(t *testing.T, dir string) {
	return func(t *testing.T, dir string) {
		t.Helper()
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if want := run(t, dir, "plants", "export"); string(got) != want {
			t.Fatalf("%s has %d bytes, want the %d of an export", name, len(got), len(want))
		}
	}
}

// completeCopy checks that a backup is complete.
func completeCopy(t *testing.T, dir string) {
	t.Helper()
	wantComplete(t, dir, "copy.db", killPlants)
}
