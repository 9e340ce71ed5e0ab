package attack

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestLinkInStickyDirectory checks that root does not follow a link of the attacker to a file of
// root in a directory such as /tmp, whatever fs.protected_symlinks is.
func TestLinkInStickyDirectory(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		planted string // name of the link
		env     []string
		args    []string
	}{
		"export":    {"plants.csv", nil, []string{"plants", "export", "--storage-url", "DATABASE", "STICKY/plants.csv"}},
		"backup":    {"backup.db", nil, []string{"backup", "--storage-url", "DATABASE", "STICKY/backup.db"}},
		"watermark": {"plants.db.mark", nil, []string{"compact", "--storage-url", "STICKY/plants.db"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := newSite(t)
			database, sticky := m.database(t), m.mkdir(t, "sticky", fs.ModeSticky|0o777, 0)
			text, err := os.ReadFile(database)
			must(t, errors.Join(err, os.WriteFile(sticky+"/plants.db", text, 0o600)))
			m.link(t, sticky+"/"+tt.planted)
			paths := strings.NewReplacer("STICKY", sticky, "DATABASE", database)
			var env, args []string
			for _, value := range tt.env {
				env = append(env, paths.Replace(value))
			}
			for _, arg := range tt.args {
				args = append(args, paths.Replace(arg))
			}
			out, code := run(m.command(t, env, args...))
			want := fmt.Sprintf("the symbolic link %s/%s belongs to the user %d", sticky, tt.planted, attacker)
			if code != 1 || !strings.Contains(out, want) {
				t.Errorf("exit code %d, want 1 and %q:\n%s", code, want, out)
			}
			m.checkVictim(t)
		})
	}
}

// TestLinkInStickyDirectoryAsUser checks the same for an ordinary user, who follows their
// own links, and links of the owner of the directory.
func TestLinkInStickyDirectoryAsUser(t *testing.T) {
	t.Parallel()
	for owner, followed := range map[int]bool{0: true, victim: true, attacker: false} {
		m := newSite(t)
		sticky := m.mkdir(t, "sticky", fs.ModeSticky|0o777, 0)
		home := m.mkdir(t, "home", 0o700, victim)
		if out, code := run(m.commandAs(t, victim, "plants", "import", "--storage-url", home+"/plants.db", "/dev/null")); code != 0 {
			t.Fatalf("plants import: %s", out)
		}
		link := sticky + "/plants.csv"
		must(t, errors.Join(os.Symlink(home+"/plants.csv", link), os.Lchown(link, owner, owner)))
		out, code := run(m.commandAs(t, victim, "plants", "export", "--storage-url", home+"/plants.db", link))
		if (code == 0) != followed {
			t.Errorf("a link of the user %d: exit code %d: %s", owner, code, out)
		}
		if _, err := os.Lstat(home + "/plants.csv"); (err == nil) != followed {
			t.Errorf("a link of the user %d: its target: %v", owner, err)
		}
	}
}
