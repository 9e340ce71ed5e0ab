package cli_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// stored creates data/plants.db in the working directory with these plants.
func stored(t *testing.T, records ...storage.Record) {
	t.Helper()
	store := must.Get(bbolt.OpenFile("data/plants.db", storage.Options{}))(t)
	must.Do(t, errors.Join(store.CreateAll(t.Context(), records)...))
	must.Do(t, store.Close())
}

// record returns a record; a tag of "-" is none.
func record(id int64, name, tag string) storage.Record {
	r := storage.Record{ID: id, Plant: models.Plant{Name: name}}
	if tag != "-" {
		r.Plant.Tag = &tag
	}
	return r
}

// onBoth runs a test on a closed database, and then on the same one while a server has it
// open.
func onBoth(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Run("file", test)
	server := startServer(t, "plantstore", nil)
	t.Run("server", test)
	if code := server.stop(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, server.log())
	}
}

// TestLockedByACommand checks that another process with the database open that is not a server
// causes an error.
func TestLockedByACommand(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t)
	store := must.Get(bbolt.OpenFile("data/plants.db", storage.Options{}))(t)
	defer func() { _ = store.Close() }()
	const locked = "database data/plants.db is locked by another process: try again when that has ended, or name another file"
	for _, command := range [][]string{{"plants", "count"}, {"check"}, {"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off"}} {
		checkFailure(t, run(t, nil, command...), 1, locked)
	}
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	return string(must.Get(os.ReadFile(name))(t))
}

// TestRoundTrip checks that every odd string and every edge of int64 goes from one store to the
// next, in each format, and comes out byte for byte as it went in.
func TestRoundTrip(t *testing.T) {
	t.Chdir(t.TempDir())
	ids := []int64{math.MinInt64, -1 << 53, -1, 0, 1<<53 + 1, math.MaxInt64}
	var records []storage.Record
	for i, odd := range []string{
		"", " ", "\t", "\r\n", "a\rb\nc", "\x00", `"`, `""`, `"a"`, `"a`, `\`, `\n`, `a,"b"`, "\ufeff", "\ufeffid", "\ufffd", "\u2028", "🌵", "e\u0301", "=1", "null", "<&>", "\x7f\u0085",
		strings.Repeat("\x01", 1<<16),
	} {
		id := int64(i)
		if i < len(ids) {
			id = ids[i]
		}
		records = append(records, record(id, odd, odd), record(100+int64(i), odd, "-"), record(200+int64(i), "a", odd))
	}
	stored(t, records...)
	want := output(t, nil, "plants", "export")
	if strings.Count(want, "\n") != len(records) {
		t.Fatalf("the export has %d lines, want %d", strings.Count(want, "\n"), len(records))
	}
	onBoth(t, func(t *testing.T) {
		for _, file := range []string{"out.csv", "out.jsonl"} {
			other := filepath.Join(t.TempDir(), "other.db")
			output(t, nil, "plants", "export", "--force", "--quiet", file)
			output(t, nil, "plants", "import", "--quiet", "--storage-url", other, file)
			if got := output(t, nil, "plants", "export", "--storage-url", other); got != want {
				t.Errorf("%s: (-want +got):\n%.2000s", file, cmp.Diff(want, got))
			}
		}
		output(t, nil, "plants", "import", "--quiet", "out.csv") // into itself: no conflicts
	})
}
