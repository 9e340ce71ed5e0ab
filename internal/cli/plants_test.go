package cli_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// stored creates data/plants.db in the working directory with these plants.
func stored(t *testing.T, records ...storage.Record) {
	t.Helper()
	store, err := bbolt.OpenFile("data/plants.db", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(store.CreateAll(t.Context(), records)...); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
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

const someLines = `{"id":-9223372036854775808,"name":"first","tag":"t"}
{"id":-1,"name":"\u001b[31m","tag":""}
{"id":0,"name":""}
{"id":9223372036854775807,"name":"Käfer \"x\"","tag":"t"}
`

// someStored creates data/plants.db in the working directory with the plants of someLines.
func someStored(t *testing.T) {
	t.Helper()
	stored(t, record(-9223372036854775808, "first", "t"), record(-1, "\x1b[31m", ""), record(0, "", "-"),
		record(9223372036854775807, `Käfer "x"`, "t"))
}

func TestList(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	lines := strings.SplitAfter(someLines, "\n")
	tests := map[string]string{
		"list":                              someLines,
		"list --limit 2":                    lines[0] + lines[1],
		"list --limit 0":                    "",
		"list --after -9223372036854775808": lines[1] + lines[2] + lines[3],
		"list --after -2 --limit 1":         lines[1],
		"list --after=-1":                   lines[2] + lines[3],
		"list --after 9223372036854775807":  "",
		"list --tag t":                      lines[0] + lines[3],
		"list --tag t --limit 1":            lines[0],
		"list --tag=":                       lines[1],
		"list --tag no --format table":      "",
		"list --format csv": "id,name,tag\n-9223372036854775808,first,t\n-1,\"\"\"\\u001b[31m\"\"\",\"\"\"\"\"\"\n0,,\n" +
			"9223372036854775807,\"Käfer \"\"x\"\"\",t\n",
		"list --format table": "ID                    NAME        TAG\n-9223372036854775808  first       t\n" +
			"-1                    \"\\x1b[31m\"  \"\"\n0                     \"\"          \n9223372036854775807   Käfer \"x\"   t\n",
		"get 0":                    lines[2],
		"get -9223372036854775808": lines[0],
		"get --format csv -- -1":   "id,name,tag\n-1,\"\"\"\\u001b[31m\"\"\",\"\"\"\"\"\"\n",
		"count":                    "4\n",
		"count --json":             "{\"plants\":4}\n",
		"export":                   someLines,
		"export -":                 someLines,
		"export --quiet":           someLines,
	}
	onBoth(t, func(t *testing.T) {
		for args, want := range tests {
			got := output(t, nil, append([]string{"plants"}, strings.Fields(args)...)...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("plantstore plants %s (-want +got):\n%s", args, diff)
			}
		}
		checkFailure(t, run(t, nil, "plants", "get", "5"), 1, "no plant has the id 5")
	})
}

// TestReadingChangesNoFiles checks that commands that only read neither create nor change
// files.
func TestReadingChangesNoFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, args := range []string{"list", "count", "get 1", "export", "export out.jsonl"} {
		checkFailure(t, run(t, nil, append([]string{"plants"}, strings.Fields(args)...)...), 1,
			"database data/plants.db cannot be opened: "+noDatabase)
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 0 {
		t.Errorf("the directory holds %v, %v", entries, err)
	}
	stored(t, record(1, "a", "-"))
	before, err := os.ReadFile("data/plants.db")
	if err != nil {
		t.Fatal(err)
	}
	output(t, nil, "plants", "list")
	if after, err := os.ReadFile("data/plants.db"); err != nil || string(after) != string(before) {
		t.Errorf("the database was changed, %v", err)
	}
}

// TestLockedByACommand checks that another process with the database open that is not a server
// causes an error.
func TestLockedByACommand(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t)
	store, err := bbolt.OpenFile("data/plants.db", storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	const locked = "database data/plants.db is locked by another process: try again when that has ended, or name another file"
	for _, command := range [][]string{{"plants", "count"}, {"check"}, {"serve", "--addr", "127.0.0.1:0", "--admin-addr", "off"}} {
		checkFailure(t, run(t, nil, command...), 1, locked)
	}
}

func TestExport(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	onBoth(t, func(t *testing.T) {
		writeFile(t, "out.csv", "old")
		checkFailure(t, run(t, nil, "plants", "export", "out.csv"), 2, "out.csv exists: name another file, or replace it with --force")
		if got := output(t, nil, "plants", "export", "--force", "out.csv"); got != "4 plants are in out.csv\n" {
			t.Errorf("export prints %q", got)
		}
		if got, want := readFile(t, "out.csv"), output(t, nil, "plants", "list", "--format", "csv"); got != want {
			t.Errorf("out.csv holds\n%s, want\n%s", got, want)
		}
		if got := output(t, nil, "plants", "export", "--force", "--json", "out.jsonl"); got != `{"file":"out.jsonl","plants":4}`+"\n" {
			t.Errorf("export --json prints %q", got)
		}
		if got := output(t, nil, "plants", "export", "--force", "--quiet", "--format", "jsonl", "out.csv"); got != "" {
			t.Errorf("export --quiet prints %q", got)
		}
		if readFile(t, "out.csv") != someLines || readFile(t, "out.jsonl") != someLines {
			t.Error("the exports hold something else")
		}
		for _, stdout := range []string{"-", "/dev/stdout"} {
			if got := output(t, nil, "plants", "export", stdout); got != someLines {
				t.Errorf("to %s it writes %q", stdout, got)
			}
		}
		checkFailure(t, run(t, nil, "plants", "export", "--force", "/dev/null"), 2, "/dev/null is not a regular file: name another one")
		checkFailure(t, run(t, nil, "plants", "export", "no/out"), 1, "export to no/out: create no/out: no such file or directory; create its directory first")
	})
}

func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestImport(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "good.jsonl", someLines)
	writeFile(t, "bad.csv", "id,name,tag\n0,other,\n1,new,\n2\n0,,\n")
	dry := output(t, nil, "plants", "import", "--dry-run", "good.jsonl")
	if _, err := os.Stat("data"); err == nil || !strings.HasPrefix(dry, "4 plants would be imported, ") {
		t.Errorf("a dry run without a database prints %q; stat: %v", dry, err)
	}
	if got := output(t, nil, "plants", "import", "good.jsonl"); got != "4 plants imported, 0 were there already, 0 skipped for their ids, 0 bad lines\n" {
		t.Errorf("import prints %q", got)
	}
	onBoth(t, func(t *testing.T) {
		if got := output(t, nil, "plants", "import", "--quiet", "good.jsonl"); got != "" {
			t.Errorf("import --quiet prints %q", got)
		}
		r := runWith(t, nil, someLines, "plants", "import", "--dry-run", "--json", "--on-conflict=skip", "-", "bad.csv")
		if want := `{"file":"bad.csv","line":4,"reason":"name: is required"}
{"created":1,"identical":5,"skipped":1,"bad":1}
`; r.code != 3 || r.stdout != want || !strings.HasPrefix(r.stderr, "plantstore: 1 bad line would be left out: ") {
			t.Errorf("dry run: %+v, want 3 and\n%s", r, want)
		}
	})
	onBoth(t, func(t *testing.T) {
		r := run(t, nil, "plants", "import", "bad.csv")
		done := "1 plant imported, 1 was there already, "
		if strings.Contains(t.Name(), "server") {
			done = "0 plants imported, 2 were there already, "
		}
		want := result{3, done + "0 skipped for their ids, 2 bad lines\n", "bad.csv:2: id: 0 is taken by a different plant\n" +
			"bad.csv:4: name: is required\nplantstore: 2 bad lines were left out: fix and import them again, " +
			"or skip taken ids with --on-conflict skip\n"}
		if diff := cmp.Diff(want, r, cmp.AllowUnexported(result{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
	var last struct{ Plants int }
	if err := json.Unmarshal([]byte(output(t, nil, "plants", "count", "--json")), &last); err != nil || last.Plants != 5 {
		t.Errorf("there are %d plants, %v", last.Plants, err)
	}
}

func TestImportOfWrongFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t)
	writeFile(t, "empty.csv", "")
	writeFile(t, "good.jsonl", someLines)
	checkFailure(t, run(t, nil, "plants", "import", "good.jsonl", "no.jsonl"), 1, "import no.jsonl: no such file or directory; name a file of plants, JSON or CSV, or - for stdin")
	checkFailure(t, run(t, nil, "plants", "import", "empty.csv"), 2, "import empty.csv: the file is empty: its first line must name the columns id, name and tag; 0 plants were stored")
	checkFailure(t, run(t, nil, "plants", "import", "data"), 1, "import data: is a directory; 0 plants were stored: fix the file, and import it again")
	if got := output(t, nil, "plants", "count"); got != "0\n" {
		t.Errorf("there are %s plants, want none", got)
	}
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
