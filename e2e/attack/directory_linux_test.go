package attack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// attempts returns the commands by which root writes to THEIRS, a directory of the attacker, and
// whether they are refused. DATABASE belongs to root.
func attempts() map[string]bool {
	return map[string]bool{
		"token --storage-url THEIRS/plants.db":                                          true,
		"serve --storage-url THEIRS/plants.db":                                          true,
		"plants import --storage-url THEIRS/plants.db PLANTS":                           true,
		"restore --storage-url THEIRS/plants.db DATABASE":                               true,
		"restore --force --storage-url THEIRS/copy.db DATABASE":                         true,
		"serve --storage-url DATABASE --admin-addr off --addr unix:THEIRS/http.sock":    true,
		"plants export --quiet --force --storage-url DATABASE THEIRS/plants.csv":        false,
		"plants export --quiet --storage-url DATABASE THEIRS/new.csv":                   false,
		"backup --quiet --storage-url DATABASE THEIRS/backup.db":                        false,
		"plants export --quiet --force --storage-url DATABASE --format csv THEIRS/text": false,
	}
}

// TestRootInDirectoryOfAttacker checks that root does not work on a database in a directory of
// another user. Its outputs there overwrite no other file, although the attacker replaces each
// temporary file by a link to a file of root.
func TestRootInDirectoryOfAttacker(t *testing.T) {
	t.Parallel()
	for line, refused := range attempts() {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			database, theirs := m.database(t), m.mkdir(t, "theirs", 0o755, attacker)
			text, err := os.ReadFile(database)
			must.Do(t, errors.Join(err, os.WriteFile(theirs+"/copy.db", text, 0o600), os.WriteFile(theirs+"/text", nil, 0o600)))
			before := contents(t, theirs)
			args := strings.Fields(strings.NewReplacer("THEIRS", theirs, "DATABASE", database, "PLANTS", filepath.Join(m.dir, "plants.jsonl")).Replace(line))
			m.startSwapping(t, theirs)
			for range plantstore.Torture(3, 30) {
				code, out := plantstore.Finish(t, m.command(t, args...))
				want := fmt.Sprintf("root must not write to %s, which belongs to the user %d", theirs, attacker)
				if refused && (code != 1 || !strings.Contains(out, want) || !strings.Contains(out, "sudo -u '#65533' plantstore")) {
					t.Errorf("exit code %d, want 1 and %q:\n%s", code, want, out)
				}
				m.checkVictim(t)
			}
			if after := contents(t, theirs); refused && after != before {
				t.Errorf("the directory contains %s, want %s", after, before)
			}
		})
	}
}

// TestLinksOfAttacker checks that a path through a link of the attacker, or as root through his
// directory, is refused before anything is created there. Links of root are followed.
func TestLinksOfAttacker(t *testing.T) {
	t.Parallel()
	m := newSite(t)
	shared, theirs := m.mkdir(t, "shared", 0o777|fs.ModeSticky, 0), m.mkdir(t, "theirs", 0o755, attacker)
	for name, user := range map[string]int{"root": 0, "victim": victim} {
		own, inside := m.mkdir(t, "of-"+name, 0o700, user), m.mkdir(t, "theirs/"+name, 0o700, user)
		link := filepath.Join(shared, name)
		must.Do(t, errors.Join(os.Symlink(own, link), os.Lchown(link, attacker, attacker)))
		relative := filepath.Join(m.dir, "relative-"+name)
		must.Do(t, errors.Join(os.Symlink("shared/"+name, relative), os.Lchown(relative, user, user)))
		linked := fmt.Sprintf("%s is a symbolic link of the user %d", link, attacker)
		inTheirs := fmt.Sprintf("root must not write to %s, which belongs to the user %d", theirs, attacker)
		if user != 0 { // it trusts those who let it create a directory in theirs
			inTheirs = ""
		}
		for dir, want := range map[string]string{link: linked, link + "/new/data": linked, relative: linked, inside: inTheirs, own: ""} {
			code, out := plantstore.Finish(t, m.commandAs(t, user, "token", "--storage-url", dir+"/plants.db"))
			if (code == 1) != (want != "") || !strings.Contains(out, want) {
				t.Errorf("%s in %s: exit code %d, want %q:\n%s", name, dir, code, want, out)
			}
			if want != "" && contents(t, own)+contents(t, inside) != "" {
				t.Errorf("%s in %s: the directories contain %s %s", name, dir, contents(t, own), contents(t, inside))
			}
			must.Do(t, errors.Join(os.RemoveAll(own+"/jwt-secret"), os.RemoveAll(inside+"/jwt-secret")))
		}
		good := filepath.Join(m.dir, "good-"+name)
		must.Do(t, os.Symlink("of-"+name, good)) // of root
		if code, out := plantstore.Finish(t, m.commandAs(t, user, "token", "--storage-url", good+"/plants.db")); code != 0 || contents(t, own) != "jwt-secret" {
			t.Errorf("%s in %s: exit code %d:\n%s", name, good, code, out)
		}
	}
}

// TestOwnerInDirectory checks that the advice of the refusal works: the owner of the directory
// runs the command.
func TestOwnerInDirectory(t *testing.T) {
	t.Parallel()
	m := newSite(t)
	theirs := m.mkdir(t, "theirs", 0o700, attacker)
	code, out := plantstore.Finish(t, m.commandAs(t, attacker, "token", "--storage-url", theirs+"/plants.db"))
	if code != 0 {
		t.Fatalf("exit code %d: %s", code, out)
	}
	if got := contents(t, theirs); got != "jwt-secret" {
		t.Errorf("the directory contains %s", got)
	}
}

// TestRootReads checks that root may read and copy a database of another user that a killed server
// has left.
func TestRootReads(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "give files away")
	server := plantstore.Start(t, plantstore.Options{Dir: t.TempDir()})
	if reply := server.Post(server.Token(), `{"id":1,"name":"fern"}`); reply.Status != 200 {
		t.Fatal(reply)
	}
	server.Kill()
	data := filepath.Join(server.Dir, "data")
	must.Do(t, filepath.WalkDir(data, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, victim, victim))
	}))
	if code, out := plantstore.Finish(t, plantstore.Command(t, server.Dir, nil, "backup", "--quiet", "copy.db")); code != 0 || out != "" {
		t.Errorf("backup: exit code %d: %s", code, out)
	}
	if code, out := plantstore.Finish(t, plantstore.Command(t, server.Dir, nil, "plants", "count")); code != 0 || out != "1\n" {
		t.Errorf("exit code %d: %s", code, out)
	}
}
