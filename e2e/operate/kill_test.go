package operate

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

const (
	// killRounds is how often each command is killed, and killPlants how many
	// plants it has to do with.
	killRounds = 6
	killPlants = 40_000
)

// A victim is a command that is killed, and what must hold afterwards.
type victim struct {
	args   []string
	server bool // one runs meanwhile
	check  func(t *testing.T, dir string)
}

// TestKilledCommands kills each command at random moments of its run, as kill -9
// does: the store and the files that were there stay whole, and the command can
// simply be run again.
func TestKilledCommands(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]victim{
		"import":           {[]string{"plants", "import", "more.jsonl"}, false, nil},
		"import by server": {[]string{"plants", "import", "more.jsonl"}, true, nil},
		"export":           {[]string{"plants", "export", "out.jsonl"}, false, oldOrNew("out.jsonl")},
		"export by server": {[]string{"plants", "export", "out.jsonl"}, true, oldOrNew("out.jsonl")},
		"backup":           {[]string{"backup", "copy.db"}, false, wholeCopy},
		"backup by server": {[]string{"backup", "copy.db"}, true, wholeCopy},
		"restore":          {[]string{"restore", "good.db"}, false, nil},
		"compact":          {[]string{"compact"}, false, nil},
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
	run(t, dir, "backup", "--quiet", "good.db")
	run(t, dir, "backup", "--quiet", "copy.db")
	run(t, dir, "plants", "export", "--quiet", "out.jsonl")
	writeMore(t, filepath.Join(dir, "more.jsonl"))
	random := rand.New(rand.NewPCG(1, 0)) //nolint:gosec // no secret comes of it

	start := time.Now()
	duration := func() time.Duration { return time.Since(start) }
	run(t, dir, v.args...) // how long does it take?
	whole := duration()
	for round := range killRounds {
		if slices.Contains(v.args, "import") { // there must be something left to do
			run(t, dir, "restore", "--quiet", "good.db")
		}
		var server *plantstore.Server
		if v.server {
			server = plantstore.Start(t, plantstore.Options{Dir: dir})
		}
		killAfter(t, dir, time.Duration(random.Int64N(int64(whole)+1)), v.args...)
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
	run(t, dir, v.args...)
}

// killAfter starts a command and kills it after a while, if it has not ended.
func killAfter(t *testing.T, dir string, after time.Duration, args ...string) {
	t.Helper()
	cmd := plantstore.Command(t, dir, nil, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { _ = cmd.Process.Kill() }) // it may have ended
	defer timer.Stop()
	_ = cmd.Wait() // either way is right
}

// writeMore writes plants with other ids, spread over all of them.
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

// oldOrNew checks that an export is whole: the store has not changed, so that the
// old one and the new are the same.
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

// wholeCopy checks the backup.
func wholeCopy(t *testing.T, dir string) {
	t.Helper()
	if out := run(t, dir, "check", "--storage-url", "copy.db"); out != fmt.Sprintf("%d plants are whole, 0 findings\n", killPlants) {
		t.Fatalf("copy.db: %s", out)
	}
}
