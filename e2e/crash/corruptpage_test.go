package crash

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

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
