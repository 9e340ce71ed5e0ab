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
	"time"

	"plantstore/e2e/internal/plantstore"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// newDatabase creates a database with the plants of the catalogue and closes it.
func newDatabase(t testing.TB) (path string, file []byte) {
	t.Helper()
	path = filepath.Join(t.TempDir(), databaseFile)
	store, err := bbolt.OpenFile(path, storage.Options{})
	must(t, err)
	plants := catalogue()
	for _, id := range slices.Sorted(maps.Keys(plants)) { // the file is the same in each run
		must(t, store.Create(t.Context(), id, plants[id]))
	}
	must(t, store.Close())
	file, err = os.ReadFile(path)
	must(t, err)
	return path, file
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

// TestFlippedRecords inverts single bits of records: plantstore check must find each, and no
// wrong plant may be returned.
func TestFlippedRecords(t *testing.T) {
	t.Parallel()
	path, file := newDatabase(t)
	random, inspector, plants := newRandom(t), newInspector(t), newLayout(t, file).records
	if v := inspector.inspect(path); len(plants) != stored || v.reported() || v.Missing > 0 || v.Crash != "" {
		t.Fatalf("an intact file with %d records: %+v", len(plants), v)
	}
	for n := range plantstore.Torture(500, 10_000) {
		undo, place := flip(file, random, plants)
		must(t, os.WriteFile(path, file, 0o600))
		undo()
		if v := inspector.inspect(path); !v.reported() || len(v.Wrong) > 0 || v.Crash != "" {
			t.Errorf("a bit of byte %d of a record: %+v, want corruption reported and no wrong plant", place, v)
		}
		if n%50 == 0 {
			wantRefusal(t, path, "check")
		}
	}
}

// wantRefusal runs the program with its database at path: it must exit with 1
// and end with a line that describes the corruption.
func wantRefusal(t testing.TB, path string, args ...string) {
	t.Helper()
	if code, last, _ := runOn(t, path, args...); code != 1 || !strings.HasPrefix(last, "plantstore: ") || !strings.Contains(last, path) {
		t.Errorf("plantstore %v: exit code %d, last line %q, want exit code 1 and a line that names %s", args, code, last, path)
	}
}

// runOn runs the program with its database at path, and returns its exit code and stderr.
func runOn(t testing.TB, path string, args ...string) (code int, last, stderr string) {
	t.Helper()
	var text strings.Builder
	cmd := plantstore.Command(t, t.TempDir(), []string{"STORAGE_URL=bbolt:" + path, "ADDR=127.0.0.1:0"}, args...)
	cmd.Stderr = &text
	must(t, cmd.Start())
	watchdog := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer watchdog.Stop()
	_ = cmd.Wait() // the exit code is returned
	return cmd.ProcessState.ExitCode(), lastLine(text.String()), text.String()
}

func lastLine(log string) string {
	lines := strings.Split(strings.TrimSuffix(log, "\n"), "\n")
	return lines[len(lines)-1]
}

// TestFlippedElsewhere inverts single bits in the rest of the file. If the corruption is not
// reported, all plants must be returned; otherwise no wrong plant may be returned.
func TestFlippedElsewhere(t *testing.T) {
	t.Parallel()
	path, file := newDatabase(t)
	l := newLayout(t, file)
	checkFlips(t, path, file, l, map[string][]span{
		"meta pages":   {{0, 80}, {l.pageSize, l.pageSize + 80}},
		"page headers": l.headers,
		"anywhere":     {{0, len(file)}},
	})
}

// checkFlips inverts single bits in each of the spans of the database file.
func checkFlips(t *testing.T, path string, file []byte, l *layout, places map[string][]span) {
	t.Helper()
	random, inspector := newRandom(t), newInspector(t)
	for name, spans := range places {
		counts := map[string]int{}
		for range plantstore.Torture(170, 3_400) {
			undo, place := flip(file, random, spans)
			must(t, os.WriteFile(path, file, 0o600))
			undo()
			v := inspector.inspect(path)
			if v.Crash != "" {
				// The race detector aborts a process that would otherwise continue.
				code, last, stderr := runOn(t, path, "check")
				v.Crash = ""
				if v.Refused = last; code != 1 || !strings.HasPrefix(last, "plantstore: ") {
					v.Crash = fmt.Sprintf("plantstore check: exit code %d: %.150s", code, stderr)
				}
			}
			counts[outcome(v)]++
			locked := strings.Contains(v.Refused, "locked")
			if len(v.Wrong) > 0 || v.Crash != "" || !v.reported() && v.Missing > 0 || locked {
				t.Errorf("%s: a bit of byte %d (%d of its page): %+v", name, place, place%l.pageSize, v)
			}
		}
		t.Logf("%s: %v", name, counts)
	}
}

func outcome(v verdict) string {
	switch {
	case v.Crash != "":
		return "crash"
	case v.Refused != "":
		return "refused"
	case len(v.Corruption) > 0:
		return "found by the check"
	}
	return "no harm done"
}

// TestCut truncates the file at many lengths: it must be refused, or have all its plants.
func TestCut(t *testing.T) {
	t.Parallel()
	path, file := newDatabase(t)
	random, inspector, l := newRandom(t), newInspector(t), newLayout(t, file)
	lengths := []int{0, 1, 80, l.pageSize, 2 * l.pageSize, 4 * l.pageSize, l.used - l.pageSize, l.used - 1, l.used}
	for range 50 {
		lengths = append(lengths, random.IntN(len(file)))
	}
	for n, length := range lengths {
		must(t, os.WriteFile(path, file[:length], 0o600))
		v := inspector.inspect(path)
		if (v.Refused != "") != (length < l.used) || v.Crash != "" || v.Refused == "" && v.Missing > 0 {
			t.Errorf("cut to %d bytes of %d: %+v", length, l.used, v)
		}
		if n < 8 {
			wantRefusal(t, path, "check")
			wantRefusal(t, path, "serve")
		}
	}
}

// TestNewerSchema checks a file that a later version of the program could have written.
func TestNewerSchema(t *testing.T) {
	t.Parallel()
	path, file := newDatabase(t)
	newer := strings.ReplaceAll(string(file), "schema1", "schema3") // key and value
	must(t, os.WriteFile(path, []byte(newer), 0o600))
	wantRefusal(t, path, "check")
	wantRefusal(t, path, "serve")
	if v := newInspector(t).inspect(path); !strings.Contains(v.Refused, "schema version 3") {
		t.Errorf("%+v", v)
	}
}
