package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newDatabase creates a database with the plants of the catalogue in the directory of a server, and
// closes it.
func newDatabase(t testing.TB) (dir string, file []byte) {
	t.Helper()
	dir = t.TempDir()
	store := must.Get(bbolt.OpenFile(filepath.Join(dir, databaseFile), storage.Options{}))(t)
	plants := catalogue()
	for _, id := range slices.Sorted(maps.Keys(plants)) { // the file is the same in each run
		must.Do(t, store.Create(t.Context(), id, plants[id]))
	}
	must.Do(t, store.Close())
	return dir, readDatabase(t, dir)
}

// readDatabase returns the file of the database in the directory of a server.
func readDatabase(t testing.TB, dir string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join(dir, databaseFile)))(t)
}

// writeDatabase writes the file of the database in the directory of a server.
func writeDatabase(t testing.TB, dir string, file []byte) {
	t.Helper()
	path := filepath.Join(dir, databaseFile)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Do(t, os.WriteFile(path, file, 0o600))
}

// flip inverts one bit of a byte in one of the spans, and returns its offset and a function that
// restores it.
func flip(file []byte, random *rand.Rand, spans []span) (undo func(), place int) {
	s := spans[random.IntN(len(spans))]
	place = s.start + random.IntN(s.end-s.start)
	bit := byte(1) << random.IntN(8)
	file[place] ^= bit
	return func() { file[place] ^= bit }, place
}

// TestFlippedBits inverts single bits of the file. If the corruption is not reported, all plants must be
// returned; otherwise no wrong plant may be returned.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	dir, file := newDatabase(t)
	random, inspect, l := newRandom(t), newInspector(t), newLayout(t, file)
	for name, spans := range map[string][]span{
		"meta pages":   {{0, 80}, {l.pageSize, l.pageSize + 80}},
		"page headers": l.headers,
		"anywhere":     {{0, len(file)}},
	} {
		for range plantstore.Torture(100, 3_400) {
			undo, place := flip(file, random, spans)
			writeDatabase(t, dir, file)
			undo()
			v := inspect(dir)
			if v.Crash != "" {
				// The race detector aborts a process that would otherwise continue.
				code, stderr := runIn(t, dir, "check")
				last := lastLine(stderr)
				if v.Crash, v.Refused = "", last; code != 1 || !strings.HasPrefix(last, "plantstore: ") {
					v.Crash = fmt.Sprintf("plantstore check: exit code %d: %.150s", code, stderr)
				}
			}
			if len(v.Wrong) > 0 || v.Crash != "" || !v.reported() && v.Missing > 0 || strings.Contains(v.Refused, "locked") {
				t.Errorf("%s: a bit of byte %d (%d of its page): %+v", name, place, place%l.pageSize, v)
			}
		}
	}
}
