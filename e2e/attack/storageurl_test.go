package attack

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
)

// A result is the exit code and the output of a run of the program.
type result struct {
	code   int
	output string // stdout and stderr
}

// finish runs a command to its end.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	code, output := plantstore.Finish(t, cmd)
	return result{code, output}
}

// TestPasswordInFlag checks that each command refuses the URL of a database of the network, and
// doesn't repeat its password.
func TestPasswordInFlag(t *testing.T) {
	t.Parallel()
	commands := []string{"serve", "config", "check", "token", "plants count", "plants export", "backup x.db", "restore x.db"}
	for i, url := range []string{
		"postgres://u:SECRET@127.0.0.1:1/db", "POSTGRESQL://u:SECRET@127.0.0.1:1/db", "postgres://127.0.0.1:1/db?password=SECRET",
		"postgres://127.0.0.1:1/db?sslpassword=SECRET", "etcd://u:SECRET@127.0.0.1:1/p",
	} {
		if i > 0 {
			commands = commands[:1]
		}
		for _, command := range commands {
			args := append(strings.Fields(command), "--storage-url", url)
			r := finish(t, plantstore.Command(t, t.TempDir(), nil, args...))
			if r.code != 2 || strings.Contains(r.output, "SECRET") || !strings.Contains(r.output, "plantstore-cluster") {
				t.Errorf("%s --storage-url %s: exit code %d\n%s", command, url, r.code, r.output)
			}
		}
	}
}

// TestMisspelledStorageURL checks that however the URL of a database is misspelled, no command
// prints its password or creates a database in a file of that name.
func TestMisspelledStorageURL(t *testing.T) {
	t.Parallel()
	urls := []string{
		"host=h user=u password=SECRET", "password=SECRET", " postgres://u:SECRET@127.0.0.1:1/db", "'postgres://u:SECRET@127.0.0.1:1/db'",
		"postgres://u:SECRET?PW@127.0.0.1:1/db", "postgres://u:SECRET/PW@127.0.0.1:1/db", "postgres://u:SECRET#PW@127.0.0.1:1/db",
		"postgres://u:1?SECRET@127.0.0.1:1/db", "postgres:u:SECRET@127.0.0.1:1/db", "u:SECRET@127.0.0.1:1/db", "//u:SECRET@127.0.0.1:1/db",
		"postgres://u:SECRET%zz@127.0.0.1:1/db", "postgres://u:SECRET@127.0.0.1:1/db?sslmode=SECRET", "mysql://u:SECRET@127.0.0.1:1/db",
		"etcd://u:1/SECRET@127.0.0.1:1/p", "etcd://u:SECRET@127.0.0.1:1/p?timeout=no", "etcd://u:SECRET@127.0.0.1:x/p", "etcd://u:SECRET",
	}
	for _, url := range urls {
		for _, command := range []string{"serve", "plants count"} {
			dir := t.TempDir()
			r := finish(t, plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0", "STORAGE_URL=" + url}, strings.Fields(command)...))
			if r.code == 0 || strings.Contains(r.output, "SECRET") {
				t.Errorf("%s with %s: exit code %d\n%s", command, url, r.code, r.output)
			}
			if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
				t.Errorf("%s with %s created %v, %v", command, url, entries, err)
			}
		}
	}
}
