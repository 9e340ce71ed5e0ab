package cli_test

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

func TestBackupAndRestore(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	onBoth(t, func(t *testing.T) {
		var report struct {
			File          string
			Plants, Bytes int64
		}
		_ = os.Remove("copy.db")
		printed := output(t, nil, "backup", "--json", "copy.db")
		if err := json.Unmarshal([]byte(printed), &report); err != nil || report.Plants != 4 || report.File != "copy.db" ||
			report.Bytes != int64(len(readFile(t, "copy.db"))) {
			t.Errorf("backup --json prints %s: %v", printed, err)
		}
		if got := output(t, nil, "check", "--storage-url", "copy.db"); got != "4 plants are intact, 0 findings\n" {
			t.Errorf("check prints %q", got)
		}
		checkFailure(t, run(t, nil, "restore", "data/plants.db"), 2, "data/plants.db is the database itself: name another file")
		checkFailure(t, run(t, nil, "backup", "copies/"), 2, "copies/ is the name of a directory: name a file")
	})
	server := startServer(t, "plantstore", nil)
	checkFailure(t, run(t, nil, "restore", "--force", "copy.db"), 1, "a server runs on data/plants.db: stop it first")
	checkFailure(t, run(t, nil, "restore", "no.db"), 1, "restore no.db: no such file or directory; name a file written by plantstore backup")
	checkFailure(t, run(t, nil, "check"), 1,
		"a server runs on data/plants.db: stop it first, or make a verified copy of it with plantstore backup FILE")
	server.stop()

	stored(t, record(5, "later", "-"))
	checkFailure(t, run(t, nil, "restore", "copy.db"), 2, "data/plants.db exists: replace it with --force, which keeps it under another name")
	got := output(t, nil, "restore", "--force", "copy.db")
	kept, found := strings.CutPrefix(strings.TrimSpace(got), "4 plants are in data/plants.db; the previous database is ")
	if !found {
		t.Fatalf("restore prints %q", got)
	}
	if got := output(t, nil, "plants", "list"); got != someLines {
		t.Errorf("restored:\n%s", got)
	}
	if got := output(t, nil, "plants", "count", "--storage-url", kept); got != "5\n" {
		t.Errorf("%s has %q plants, want 5", kept, got)
	}
	startServer(t, "plantstore", nil).ready(t)
	if got := output(t, nil, "restore", "--storage-url", "new/plants.db", "--json", "copy.db"); got != `{"database":"new/plants.db","plants":4}`+"\n" {
		t.Errorf("restore prints %q", got)
	}
}

// TestOutputsReplaceNoStore checks that an output replaces no database and no backup, whatever the
// flag, and other files with --force only.
func TestOutputsReplaceNoStore(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	output(t, nil, "backup", "--quiet", "copy.db")
	server := startServer(t, "plantstore", nil)
	writeFile(t, "text", "old")
	if err := os.Mkdir("directory", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("text", "link"); err != nil {
		t.Fatal(err)
	}
	before := readFile(t, "copy.db")
	for _, command := range [][]string{{"backup"}, {"plants", "export"}} {
		for _, flag := range []string{"--quiet", "--force"} {
			for file, want := range map[string]string{
				"data/plants.db":      "data/plants.db is a database or a backup, which is never replaced: name another file",
				"copy.db":             "copy.db is a database or a backup, which is never replaced: name another file",
				"data/plants.db.sock": "data/plants.db.sock is not a regular file: name another one",
				"directory":           "directory is not a regular file: name another one",
				"link":                "link is not a regular file: name another one",
			} {
				checkFailure(t, run(t, nil, append(command, flag, file)...), 2, want)
			}
		}
		checkFailure(t, run(t, nil, append(command, "text")...), 2, "text exists: name another file, or replace it with --force")
		output(t, nil, append(command, "--force", "--quiet", "text")...)
		if readFile(t, "text") == "old" {
			t.Errorf("%v --force has not replaced the file", command)
		}
		writeFile(t, "text", "old")
	}
	server.stop()
	if readFile(t, "copy.db") != before {
		t.Error("a backup was replaced")
	}
	if got := output(t, nil, "plants", "list"); got != someLines {
		t.Errorf("the database has\n%s", got)
	}
}

// remedy is the advice for a corrupt database.
const remedy = "restore a backup"

// TestBackupOfCorrupt checks that corruption is found before the file is replaced, and has its
// own exit code.
func TestBackupOfCorrupt(t *testing.T) {
	t.Chdir(t.TempDir())
	someStored(t)
	output(t, nil, "backup", "--quiet", "copy.db")
	good := readFile(t, "copy.db")
	bad := bytes.ReplaceAll([]byte(good), []byte("Käfer"), []byte("Kafer!"))
	writeFile(t, "bad.db", string(bad))
	checkCorrupt := func(r result, last string) {
		t.Helper()
		if r.code != 3 || r.stdout != "" || !strings.HasPrefix(r.stderr, "id 9223372036854775807: wrong checksum") &&
			!strings.Contains(r.stderr, "wrong checksum") || !strings.HasSuffix(r.stderr, "plantstore: "+last+"\n") {
			t.Errorf("%+v, want code 3 and at last: %s", r, last)
		}
	}
	checkCorrupt(run(t, nil, "restore", "--force", "bad.db"), "bad.db is corrupt, nothing was replaced: use an older backup")
	checkCorrupt(run(t, nil, "backup", "--storage-url", "bad.db", "new.db"),
		"the database is corrupt, the copy was deleted: stop the server and "+remedy)
	for name, contents := range map[string]string{
		"short.db": good[:8192], "empty.db": "", "garbled.db": strings.Repeat("x", 8192) + good[8192:],
	} {
		writeFile(t, name, contents)
		last := name + " is corrupt, nothing was replaced: use an older backup"
		r := run(t, nil, "restore", "--force", name)
		if r.code != 3 || !strings.HasPrefix(r.stderr, "database "+name+" ") || strings.Count(r.stderr, "\n") != 2 || !strings.HasSuffix(r.stderr, "\nplantstore: "+last+"\n") {
			t.Errorf("restore %s: %+v, want code 3, one finding and at last: %s", name, r, last)
		}
		if readFile(t, name) != contents {
			t.Errorf("%s was changed", name)
		}
	}
	if _, err := os.Lstat("new.db"); err == nil {
		t.Error("a corrupt backup appeared")
	}
	if readFile(t, "copy.db") != good || readFile(t, "bad.db") != string(bad) {
		t.Error("a file was changed")
	}
	if got := output(t, nil, "plants", "count"); got != "4\n" {
		t.Errorf("the database has %q plants", got)
	}
	for _, dir := range []string{".", "data"} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			if strings.HasSuffix(entry.Name(), ".tmp") {
				t.Errorf("%s is left behind", entry.Name())
			}
		}
	}
}
