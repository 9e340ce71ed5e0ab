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
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// stored is the number of plants in a [catalogue].
const stored = 400

// catalogue returns the plants in the files that the tests corrupt.
func catalogue() map[int64]models.Plant {
	plants := map[int64]models.Plant{}
	for n := range int64(stored) {
		plant := models.Plant{Name: fmt.Sprintf("plant %d%s", n, strings.Repeat(" long", int(n%9*n%40)))}
		if n%50 == 0 {
			plant.Name = strings.Repeat("longer than a page ", 400)
		}
		if n%2 == 0 {
			tag := fmt.Sprint("tag ", n%10)
			plant.Tag = &tag
		}
		plants[(n-stored/2)<<54+n] = plant
	}
	return plants
}

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

// TestFlippedBits inverts single bits of the file. If plantstore check finds nothing, all plants must be exported;
// otherwise no wrong plant may be.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	dir, file := newDatabase(t)
	random, l := newRandom(t), newLayout(t, file)
	export := func() (code int, plants map[string]bool, last string) {
		code, out := runIn(t, dir, "plants", "export", "--format", "jsonl", "--quiet", "-")
		plants = map[string]bool{}
		for line := range strings.Lines(out) {
			if strings.HasPrefix(line, "{") {
				plants[line] = true
			}
		}
		return code, plants, lastLine(out)
	}
	_, all, _ := export()
	for name, spans := range map[string][]span{
		"meta pages":   {{0, 80}, {l.pageSize, l.pageSize + 80}},
		"page headers": l.headers,
		"anywhere":     {{0, len(file)}},
	} {
		for range plantstore.Torture(40, 3_400) {
			undo, place := flip(file, random, spans)
			writeDatabase(t, dir, file)
			undo()
			checked, report := runIn(t, dir, "check")
			code, exported, last := export()
			failed := func(line string) bool {
				return strings.HasPrefix(line, "plantstore: ") && !strings.Contains(line, "locked")
			}
			good := checked == 0 && code == 0 && len(exported) == stored ||
				checked == 1 && failed(lastLine(report)) && (code == 0 || (code == 1 || code == 3) && failed(last))
			maps.DeleteFunc(exported, func(line string, _ bool) bool { return all[line] })
			if !good || len(exported) > 0 {
				t.Errorf("%s: a bit of byte %d (%d of its page): check %d, export %d with the wrong plants %v:\n%.1000s\n%s",
					name, place, place%l.pageSize, checked, code, exported, report, last)
			}
		}
	}
}
