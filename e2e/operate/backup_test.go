package operate

import (
	"bufio"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/must"
	"plantstore/e2e/internal/plantstore"
)

// TestBackupUnderLoad checks that a backup under full load is intact, and has every plant
// that was acknowledged before it began.
func TestBackupUnderLoad(t *testing.T) {
	t.Parallel()
	server := plantstore.Start(t, plantstore.Options{Env: []string{"LOG_LEVEL=error"}})
	l := startLoad(t, server.BaseURL, server.Token(), 32)
	for round, name := range []string{"first.db", "second.db", "third.db"} {
		want := 500 * (round + 1)
		await(t, "creates", func() bool { return l.created.Load() >= int64(want) })
		before := l.ids()
		plantstore.Run(t, server.Dir, "backup", name)
		if out := plantstore.Run(t, server.Dir, "check", "--storage-url", name); !strings.HasSuffix(out, " 0 findings\n") {
			t.Errorf("check: %s", out)
		}
		stored := listIDs(t, server.Dir, name)
		for _, id := range before {
			if !stored[id] {
				t.Errorf("round %d: the backup lacks plant %d, acknowledged before it began", round, id)
			}
		}
		t.Logf("round %d: %d plants were acknowledged before the backup, %d are in it, %d were acknowledged after it",
			round, len(before), len(stored), len(l.ids()))
	}
	l.end()
}

// listIDs returns the ids of the plants in a database.
func listIDs(t *testing.T, dir, database string) map[int64]bool {
	t.Helper()
	ids := map[int64]bool{}
	lines := bufio.NewScanner(strings.NewReader(plantstore.Run(t, dir, "plants", "list", "--storage-url", filepath.Join(dir, database))))
	for lines.Scan() {
		var plant struct{ ID int64 }
		must.Do(t, json.Unmarshal(lines.Bytes(), &plant))
		ids[plant.ID] = true
	}
	return ids
}
