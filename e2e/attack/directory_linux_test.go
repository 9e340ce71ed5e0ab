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

// TestRootInDirectoryOfAttacker checks that root does not work on a database in a directory of
// another user. Its outputs there overwrite no other file, although the attacker replaces each
// temporary file by a link to a file of root.
func TestRootInDirectoryOfAttacker(t *testing.T) {
	t.Parallel()
	for line, refused := range map[string]bool{
		"token --storage-url THEIRS/plants.db":                                          true,
		"serve --storage-url THEIRS/plants.db":                                          true,
		"plants import --storage-url THEIRS/plants.db plants.jsonl":                     true,
		"restore --storage-url THEIRS/plants.db DATABASE":                               true,
		"restore --force --storage-url THEIRS/copy.db DATABASE":                         true,
		"serve --storage-url DATABASE --admin-addr off --addr unix:THEIRS/http.sock":    true,
		"plants export --quiet --force --storage-url DATABASE THEIRS/plants.csv":        true,
		"plants export --quiet --storage-url DATABASE THEIRS/new.csv":                   true,
		"backup --quiet --storage-url DATABASE THEIRS/backup.db":                        true,
		"plants export --quiet --force --storage-url DATABASE --format csv THEIRS/text": true,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			database, theirs := m.database(), m.mkdir("theirs", 0o755, attacker)
			m.file("theirs/copy.db", string(must.Get(os.ReadFile(database))(t)), 0, 0o600)
			m.file("theirs/text", "", 0, 0o600)
			before := m.contents(theirs)
			want := fmt.Sprintf("root must not write to %s, which belongs to the user %d", theirs, attacker)
			m.startSwapping(theirs)
			for range plantstore.Torture(3, 30) {
				code, out := m.run(0, strings.NewReplacer("THEIRS", theirs, "DATABASE", database).Replace(line))
				if refused && (code != 1 || !strings.Contains(out, want) || !strings.Contains(out, "sudo -u '#65533' plantstore")) {
					t.Errorf("exit code %d, want 1 and %q:\n%s", code, want, out)
				}
				m.checkVictim()
			}
			if after := m.contents(theirs); refused && after != before {
				t.Errorf("the directory contains %s, want %s", after, before)
			}
		})
	}
}

// TestLinkInStickyDirectory checks that root does not follow a link of the attacker to a file of
// root in a directory such as /tmp, whatever fs.protected_symlinks is.
func TestLinkInStickyDirectory(t *testing.T) {
	t.Parallel()
	m := newSite(t)
	m.database()
	m.mkdir("sticky", fs.ModeSticky|0o777, 0)
	m.link(m.target, "sticky/out.csv", attacker)
	for _, line := range []string{"plants export sticky/out.csv", "plants export --force sticky/out.csv", "backup sticky/out.csv"} {
		if code, out := m.run(0, line); code != 2 || !strings.Contains(out, "is not a regular file") {
			t.Errorf("%s: exit code %d, want 2:\n%s", line, code, out)
		}
		m.checkVictim()
	}
}

// TestLinksOfAttacker checks that a path through a link of the attacker, or as root through his
// directory, is refused before anything is created there. Links of root are followed.
func TestLinksOfAttacker(t *testing.T) {
	t.Parallel()
	m := newSite(t)
	m.mkdir("shared", 0o777|fs.ModeSticky, 0)
	theirs := m.mkdir("theirs", 0o755, attacker)
	for name, user := range map[string]int{"root": 0, "victim": victim} {
		own, inside := m.mkdir("of-"+name, 0o700, user), m.mkdir("theirs/"+name, 0o700, user)
		link, relative := m.link(own, "shared/"+name, attacker), m.link("shared/"+name, "relative-"+name, user)
		linked := fmt.Sprintf("%s is a symbolic link of the user %d", link, attacker)
		inTheirs := fmt.Sprintf("root must not write to %s, which belongs to the user %d", theirs, attacker)
		if user != 0 { // it trusts those who let it create a directory in theirs
			inTheirs = ""
		}
		good := m.link("of-"+name, "good-"+name, 0)
		for dir, want := range map[string]string{
			link: linked, link + "/new/data": linked, relative: linked, inside: inTheirs, own: "", good: "",
		} {
			code, out := m.run(user, "token --storage-url "+dir+"/plants.db")
			if (code == 1) != (want != "") || !strings.Contains(out, want) {
				t.Errorf("%s in %s: exit code %d, want %q:\n%s", name, dir, code, want, out)
			}
			created := m.contents(own) + m.contents(inside)
			if want == "" && (code != 0 || created != "jwt-secret") || want != "" && created != "" {
				t.Errorf("%s in %s: exit code %d, the directories contain %s", name, dir, code, created)
			}
			m.check(os.RemoveAll(own+"/jwt-secret"), os.RemoveAll(inside+"/jwt-secret"))
		}
	}
}

// TestRootReads checks that root may read and copy a database of another user that a killed server
// has left.
func TestRootReads(t *testing.T) {
	t.Parallel()
	tools.RequireRoot(t, "give files away")
	server := plantstore.Start(t, plantstore.Options{})
	if reply := server.Post(server.Token(), `{"id":1,"name":"fern"}`); reply.Status != 200 {
		t.Fatal(reply)
	}
	server.Kill()
	must.Do(t, filepath.WalkDir(filepath.Join(server.Dir, "data"), func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Lchown(path, victim, victim))
	}))
	for line, want := range map[string]string{"backup --quiet copy.db": "", "plants count": "1\n"} {
		if out := plantstore.Run(t, server.Dir, strings.Fields(line)...); out != want {
			t.Errorf("%s: %q, want %q", line, out, want)
		}
	}
}

// TestDenied checks that a permission error names the object, its owner, who the process is, and a
// remedy.
func TestDenied(t *testing.T) {
	t.Parallel()
	const owner, self = 65532, 65533
	m := newSite(t)
	text := string(must.Get(os.ReadFile(m.database()))(t))
	m.mkdir("open", 0o755, 0)
	m.mkdir("theirs", 0o700, owner)
	m.mkdir("mine", 0o700, self)
	m.file("open/plants.db", text, 0, 0o600)
	m.file("theirs/plants.db", text, owner, 0o600)
	m.file("mine/plants.db", text, self, 0)
	m.file("mine/jwt-secret", strings.Repeat("s", 64), 0, 0o600)
	m.file("plants.db", text, self, 0o600)
	replacer := strings.NewReplacer(
		"AT", "--storage-url", "ELSE", "name another place with --storage-url", "SELF", "this process is uid 65533",
	)
	for line, want := range map[string]string{
		"serve AT data/plants.db":                 "data belongs to uid 0, SELF: chown 65533 data, or ELSE",
		"plants list AT data/plants.db":           "data belongs to uid 0, SELF: chown 65533 data, or ELSE",
		"health AT data/plants.db":                "data belongs to uid 0, SELF: chown 65533 data",
		"serve AT open/plants.db":                 "open/plants.db belongs to uid 0, SELF: chown 65533 open/plants.db, or ELSE",
		"serve AT open/new.db":                    "open belongs to uid 0, SELF: chown 65533 open, or ELSE",
		"plants list AT theirs/plants.db":         "theirs belongs to uid 65532, SELF: run this as that user, or chown 65533 theirs, or ELSE",
		"serve AT mine/plants.db":                 "mine/plants.db has the mode 0000: chmod u+rwX mine/plants.db, or ELSE",
		"token AT mine/plants.db":                 "mine/jwt-secret belongs to uid 0, SELF: chown 65533 mine/jwt-secret",
		"plants import AT mine/new.db victim":     "victim belongs to uid 0, SELF: chown 65533 victim",
		"restore AT open/new.db plants.db":        "open belongs to uid 0, SELF: chown 65533 open, or ELSE",
		"plants export AT plants.db open/out.csv": "open belongs to uid 0, SELF: name another place",
	} {
		want = "permission denied; " + replacer.Replace(want) + "\n"
		if code, out := m.run(self, replacer.Replace(line)); code != 1 || !strings.Contains(out, want) {
			t.Errorf("%s: exit code %d, want 1 and %q:\n%s", line, code, want, out)
		}
	}
}
