package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/internal/must"
)

// rejects checks that a command exits with code and a message, and without a password.
func rejects(t *testing.T, code int, message string, env []string, args ...string) {
	t.Helper()
	dir := t.TempDir()
	got, out := plantstore.Finish(t, plantstore.Command(t, dir, env, args...))
	if got != code || !strings.Contains(out, message) || strings.Contains(out, "hunter2") {
		t.Errorf("%q with %q: exit code %d, want %d, and %q\n%s", args, env, got, code, message, out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%q with %q created %v, %v", args, env, entries, err)
	}
}

// TestWrongStorageURL checks that however the URL of a database is misspelled, no command prints
// its password or creates a database in a file of that name. A correct one is refused as a flag, which
// would be visible in the list of processes.
func TestWrongStorageURL(t *testing.T) {
	t.Parallel()
	rejects(t, 2, "set STORAGE_URL in the environment", nil, "serve", "--storage-url", "postgres://u:hunter2@127.0.0.1:1/db")
	for _, url := range []string{
		"host=h user=u password=hunter2", "postgres://u:1?hunter2@127.0.0.1:1/db", "postgres://u:hunter2%zz@127.0.0.1:1/db",
		"postgres://u:hunter2@127.0.0.1:1/db?sslmode=hunter2", "mysql://u:hunter2@127.0.0.1:1/db", "etcd://u:hunter2@127.0.0.1:1/p?timeout=no",
	} {
		file := filepath.Join(t.TempDir(), "url")
		must.Do(t, os.WriteFile(file, []byte(url+"\n"), 0o600))
		for _, env := range []string{"STORAGE_URL=" + url, "STORAGE_URL_FILE=" + file} {
			for _, command := range []string{"serve", "plants count"} {
				rejects(t, 2, "plantstore-cluster: ", []string{"ADDR=127.0.0.1:0", "JWT_SECRET=" + secret, env}, strings.Fields(command)...)
			}
		}
	}
}

// TestNoFile checks that nothing is stored next to a database that is not a file, and commands on
// files are refused.
func TestNoFile(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"postgres:///plants?host=run", "postgres://run/plants", "etcd://run/plants", "etcd://127.0.0.1:1"} {
		env := []string{"STORAGE_URL=" + url}
		rejects(t, 1, "with this storage there is no directory to keep a secret in", env, "token")
		rejects(t, 2, "", env, "backup", "x.db")
		rejects(t, 2, "", env, "restore", "x.db")
	}
	env := []string{"STORAGE_URL=etcd://me:hunter2@127.0.0.1:1,127.0.0.1:2/a?timeout=1s"}
	rejects(t, 1, "etcd at 127.0.0.1:1,127.0.0.1:2: no member with a quorum has responded within 1s", env, "plants", "count")
}

// TestStorageURLFile checks that the URL in a file, and a path behind its scheme, work.
func TestStorageURLFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(dir, "url"), []byte("bbolt:host=h password=x.db\r\n"), 0o600))
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Args: []string{"--storage-url-file", "url"}})
	if _, err := os.Stat(filepath.Join(dir, "host=h password=x.db")); err != nil {
		t.Error(err)
	}
	if log := server.Log(); !strings.Contains(log, "--storage-url-file url") || strings.Contains(log, "WARN") {
		t.Errorf("the log has no command for a token, or a warning:\n%s", log)
	}
	if out, err := plantstore.Command(t, dir, []string{"STORAGE_URL_FILE=url"}, "plants", "count").CombinedOutput(); err != nil || string(out) != "0\n" {
		t.Errorf("plants count: %v, %s", err, out)
	}
	rejects(t, 2, "STORAGE_URL and STORAGE_URL_FILE are both set", []string{"STORAGE_URL_FILE=url", "STORAGE_URL=a.db"}, "plants", "count")
}
