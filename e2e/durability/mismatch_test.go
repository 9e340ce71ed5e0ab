package durability

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/models"
	"plantstore/storage/bbolt"
)

// A life is a server that was killed, in its own directory.
type life struct {
	dir     string
	options plantstore.Options
	plants  map[int64]models.Plant
}

// newLife starts a server, creates plants and kills it.
func newLife(t *testing.T, p program, seed uint64, creates int) life {
	t.Helper()
	l := life{dir: t.TempDir(), plants: map[int64]models.Plant{}}
	l.options = plantstore.Options{Dir: l.dir, Binary: p.binary, Env: []string{fmt.Sprint("JOURNAL_BYTES=", p.journal)}}
	server, err := plantstore.Try(t, l.options)
	must(t, err)
	s := newVisitor(t, server, seed)
	for range creates {
		id, plant := s.next()
		if a := s.post(id, plant); a.status != ok {
			t.Errorf("create: %v", a)
		}
		l.plants[id] = plant
	}
	server.Kill()
	return l
}

func (l life) database() string { return filepath.Join(l.dir, databaseFile) }

func (l life) journal() string { return bbolt.JournalPath(l.database()) }

// refused returns the violations of a start of the server there, which must fail.
func (l life) refused(t *testing.T, want string) []string {
	t.Helper()
	before, err := os.ReadFile(l.database())
	must(t, err)
	server, err := plantstore.Try(t, l.options)
	if err == nil {
		server.Kill()
		return []string{"it starts"}
	}
	var wrong []string
	if !strings.Contains(err.Error(), "exit status 1") {
		wrong = append(wrong, "it does not end with exit status 1")
	}
	if _, log, _ := strings.Cut(err.Error(), "\n"); strings.Count(log, want) != 1 || strings.Contains(log, "goroutine") {
		wrong = append(wrong, fmt.Sprintf("want one line with %q: %v", want, err))
	}
	if after, err := os.ReadFile(l.database()); err != nil || string(after) != string(before) {
		wrong = append(wrong, fmt.Sprint("the database has changed: ", err))
	}
	return wrong
}

// swapJournals swaps the journals of the databases of two servers, which must then refuse to
// start. It returns the violations.
func swapJournals(t *testing.T, p program) []string {
	t.Helper()
	one, other := newLife(t, p, 1, 5), newLife(t, p, 2, 5)
	aside := one.journal() + ".aside"
	must(t, os.Rename(one.journal(), aside))
	must(t, os.Rename(other.journal(), one.journal()))
	must(t, os.Rename(aside, other.journal()))
	return append(one.refused(t, "belongs to another database"), other.refused(t, "belongs to another database")...)
}

// TestJournalOfAnotherMoment checks that a database with a foreign or incomplete journal is
// refused with one line that names the remedy; with its own journal it has all plants again.
func TestJournalOfAnotherMoment(t *testing.T) {
	t.Parallel()
	t.Run("swapped", func(t *testing.T) {
		t.Parallel()
		for _, wrong := range swapJournals(t, journalled()) {
			t.Error(wrong)
		}
	})
	for name, tt := range map[string]struct {
		change func(journal []byte) []byte // nil: the file is removed
		want   string
	}{
		"removed": {nil, "put that back"},
		"cut":     {func(b []byte) []byte { return b[:len(b)/2] }, "cut short"},
		"empty":   {func([]byte) []byte { return nil }, "cut short"},
		"foreign": {func(b []byte) []byte { return []byte(strings.Repeat("another file\n", len(b)/13)) }, "corrupt"},
		"zeros":   {func(b []byte) []byte { return make([]byte, len(b)) }, "corrupt"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := newLife(t, journalled(), 3, 8)
			own, err := os.ReadFile(l.journal())
			must(t, err)
			must(t, os.Remove(l.journal()))
			if tt.change != nil {
				must(t, os.WriteFile(l.journal(), tt.change(append([]byte(nil), own...)), 0o600))
			}
			for _, wrong := range l.refused(t, tt.want) {
				t.Error(wrong)
			}
			must(t, os.WriteFile(l.journal(), own, 0o600))
			server, err := plantstore.Try(t, l.options)
			must(t, err)
			s := newVisitor(t, server, 4)
			for id, plant := range l.plants {
				if a := s.post(id, plant); a.fate() != stored || a.status == ok {
					t.Errorf("id %d is lost: %v", id, a)
				}
			}
			server.Stop()
		})
	}
}
