package cli_test

import (
	"bytes"
	"strings"
	"testing"
)

// TestImportMeetsCorruption checks that a line with the id of a corrupt record is reported as such.
func TestImportMeetsCorruption(t *testing.T) {
	t.Chdir(t.TempDir())
	stored(t, record(1, "first", "-"), record(2, "second", "-"))
	intact := readFile(t, "data/plants.db")
	writeFile(t, "data/plants.db", string(bytes.ReplaceAll([]byte(intact), []byte(`"first"`), []byte(`"fjrst"`))))
	const lines = `{"id":1,"name":"first"}` + "\n{}\n" + `{"id":2,"name":"other"}` + "\n"
	const report = ":1: id: 1 is taken by a corrupt record: stop the server and run plantstore check\n"
	onBoth(t, func(t *testing.T) {
		want := "-" + report + "-:2: id: is required; name: is required\n-:3: id: 2 is taken by a different plant\n" +
			"plantstore: 3 bad lines were left out: fix and import them again, or skip taken ids with --on-conflict skip\n"
		if got := runWith(t, nil, lines, "plants", "import", "--quiet", "-"); got != (result{3, "", want}) {
			t.Errorf("%+v, want code 3 and\n%s", got, want)
		}
	})
	writeFile(t, "seed.jsonl", lines)
	r := run(t, nil, "serve", "--addr", "127.0.0.1:0", "--admin-addr", "off", "--seed", "seed.jsonl")
	if r.code != 3 || !strings.Contains(r.stderr, "seed.jsonl"+report) || !strings.HasSuffix(r.stderr, "plantstore: --seed: seed.jsonl has 2 bad lines: fix the file and start again\n") {
		t.Errorf("serve --seed: %+v", r)
	}
}

// TestReadCorrupt checks that commands that read a corrupt plant fail with a remedy and a separate
// exit code, and that the others can be listed.
func TestReadCorrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	intact := readFile(t, "data/plants.db")
	writeFile(t, "data/plants.db", string(bytes.ReplaceAll([]byte(intact), []byte(`"first"`), []byte(`"fjrst"`))))
	const finding = "the database is corrupt: id -9223372036854775808: wrong checksum"
	lines := strings.SplitAfter(someLines, "\n")
	onBoth(t, func(t *testing.T) {
		for _, args := range []string{"list", "get -9223372036854775808", "export"} {
			checkFailure(t, run(t, nil, append([]string{"plants"}, strings.Fields(args)...)...), 3, finding+": "+remedy)
		}
		checkFailure(t, run(t, nil, "plants", "export", "out.jsonl"), 3, "export to out.jsonl: "+finding+": "+remedy)
		if got := output(t, nil, "plants", "get", "0"); got != lines[2] {
			t.Errorf("get prints %q", got)
		}
		if got := output(t, nil, "plants", "list", "--after", "-9223372036854775808"); got != strings.Join(lines[1:], "") {
			t.Errorf("list --after prints %q", got)
		}
	})
}
