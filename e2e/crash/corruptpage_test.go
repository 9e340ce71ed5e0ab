package crash

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// cure is the advice of a server that ends because its database is corrupt.
const cure = "run plantstore check, then plantstore restore"

// TestCorruptPages overwrites three pages of a closed database. The server starts. The first create
// that reads one of them is not stored, and says so; then the server ends with exit code 3, and its
// last line says what to do.
func TestCorruptPages(t *testing.T) {
	t.Parallel()
	_, file := newDatabase(t)
	l, random := newLayout(t, file), newRandom(t)
	leaves := l.headers[1 : len(l.headers)-1] // without the root, and the page that each start writes to
	for name, fill := range map[string]func() byte{
		"zeros": func() byte { return 0 },
		"noise": func() byte { return byte(random.Uint32()) }, //nolint:gosec // any byte will do
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, corrupt := t.TempDir(), append([]byte(nil), file...)
			writeDatabase(t, dir, file)
			plantstore.Run(t, dir, "backup", "--quiet", "backup.db")
			for range 3 {
				overwrite(corrupt, l, leaves[random.IntN(len(leaves))], fill)
			}
			writeDatabase(t, dir, corrupt)
			s := newSite(t, dir)
			var a plantstore.Reply
			for id := range catalogue() {
				var err error
				a, err = s.server.TryPost(s.token, fmt.Sprintf(`{"id":%d,"name":"other"}`, id))
				must(t, err)
				if a.Code != http.StatusConflict {
					break
				}
			}
			if a.Code != http.StatusInternalServerError || !strings.HasPrefix(a.Message, "the plant was not stored: the database is corrupt") {
				t.Errorf("a create that reads a corrupt page: %+v", a)
			}
			s.wantEnd(3, cure)
			wantCommand(t, dir, 1, databaseFile, "check")
			plantstore.Run(t, dir, "restore", "--quiet", "--force", "backup.db")
			s.restart()
			s.check()
		})
	}
}

// overwrite fills the page with that header.
func overwrite(file []byte, l *layout, header span, fill func() byte) {
	for i := range l.pageSize {
		file[header.start+i] = fill()
	}
}

// TestCorruptAtStart overwrites a page that the start reads: the server ends with exit code 3.
func TestCorruptAtStart(t *testing.T) {
	t.Parallel()
	dir, file := newDatabase(t)
	l := newLayout(t, file)
	for _, header := range []span{{0, 0}, l.headers[0], l.headers[len(l.headers)-1]} { // a meta page, the root, the last leaf
		corrupt := append([]byte(nil), file...)
		overwrite(corrupt, l, header, func() byte { return 0 })
		writeDatabase(t, dir, corrupt)
		code, stderr := runIn(t, dir, "serve")
		if code != 3 || !strings.Contains(lastLine(stderr), "restore") || strings.Contains(stderr, `"ready"`) {
			t.Errorf("page %d is corrupt: exit code %d:\n%s", header.start/l.pageSize, code, stderr)
		}
		wantCommand(t, dir, 1, databaseFile, "check")
	}
}
