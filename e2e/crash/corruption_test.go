package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
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

// TestCorruptPages overwrites three pages of a closed database. The server starts. The first create
// that reads one of them is not stored, and says so; then the server ends with exit code 3, and its
// last line says what to do.
func TestCorruptPages(t *testing.T) {
	t.Parallel()
	_, file := newDatabase(t)
	for name, mask := range map[string]byte{"zeros": 0, "noise": 0xff} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, random := t.TempDir(), newRandom(t)
			writeDatabase(t, dir, file)
			plantstore.Run(t, dir, "plants", "import", "--quiet", os.DevNull) // now it is not a copy, whose pages are checked
			plantstore.Run(t, dir, "backup", "--quiet", "backup.db")
			corrupt := must.Get(os.ReadFile(filepath.Join(dir, databaseFile)))(t)
			l := newLayout(t, corrupt)
			leaves := l.headers[1 : len(l.headers)-1] // without the root, and the page that each start writes to
			for _, leaf := range random.Perm(len(leaves))[:3] {
				page := corrupt[leaves[leaf].start:][:l.pageSize]
				for i := range page {
					page[i] = byte(random.Uint32()) & mask
				}
			}
			writeDatabase(t, dir, corrupt)
			wantLast(t, dir)
			s := newSite(t, dir)
			var a plantstore.Reply
			for id := range catalogue() {
				var err error
				a, err = s.Server.TryPost(s.Token, fmt.Sprintf(`{"id":%d,"name":"other"}`, id))
				must.Do(t, err)
				if a.Code != http.StatusConflict {
					break
				}
			}
			if a.Code != http.StatusInternalServerError || !strings.HasPrefix(a.Message, "the plant was not stored: the database is corrupt") {
				t.Errorf("a create that reads a corrupt page: %+v", a)
			}
			s.wantEnd(3, "run plantstore check, then plantstore restore")
			wantCommand(t, dir, 1, databaseFile, "check")
			plantstore.Run(t, dir, "restore", "--quiet", "--force", "backup.db")
			s.Start(plantstore.Options{Dir: s.Server.Dir})
			s.check()
		})
	}
}

// wantLast checks that a list that ends at a corrupt page names the last plant before it.
func wantLast(t *testing.T, dir string) {
	t.Helper()
	var stderr strings.Builder
	list := plantstore.Command(t, dir, nil, "plants", "list", "--format", "csv")
	list.Stderr = &stderr
	listed, _ := list.Output() // the exit code is checked
	rows := strings.Split(strings.TrimSpace(string(listed)), "\n")
	id, _, _ := strings.Cut(rows[len(rows)-1], ",")
	named := strings.Contains(stderr.String(), "; the last plant before it has the id "+id+": ")
	if first := len(rows) == 1; list.ProcessState.ExitCode() != 3 || named == first { // the header
		t.Errorf("exit code %d, after %d rows to %s:\n%s", list.ProcessState.ExitCode(), len(rows), id, stderr.String())
	}
}

// TestCorruptAtStart overwrites a page that the start reads, or truncates the file: the server ends
// with exit code 3.
func TestCorruptAtStart(t *testing.T) {
	t.Parallel()
	dir, file := newDatabase(t)
	l := newLayout(t, file)
	files := map[string][]byte{}
	for _, start := range []int{0, l.headers[0].start, l.headers[len(l.headers)-1].start} { // a meta page, the root, the last leaf
		corrupt := slices.Clone(file)
		clear(corrupt[start:][:l.pageSize])
		files[fmt.Sprint("without the page at ", start)] = corrupt
	}
	for _, length := range []int{0, 1, 80, l.pageSize, 2 * l.pageSize, 4 * l.pageSize, l.used - l.pageSize, l.used - 1} {
		files[fmt.Sprintf("cut to %d bytes of %d", length, l.used)] = file[:length]
	}
	for name, file := range files {
		writeDatabase(t, dir, file)
		code, stderr := runIn(t, dir, "serve")
		if code != 3 || !strings.Contains(lastLine(stderr), "restore") || strings.Contains(stderr, `"ready"`) {
			t.Errorf("%s: exit code %d:\n%s", name, code, stderr)
		}
		wantCommand(t, dir, 1, databaseFile, "check")
	}
	writeDatabase(t, dir, file[:l.used])
	wantCommand(t, dir, 0, "", "check")
}
