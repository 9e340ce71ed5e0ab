package attack

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plantstore/e2e/internal/plantstore"
)

// A result is the exit code and the output of a run of the program.
type result struct {
	code   int
	output string // stdout and stderr
}

// finish runs a command to its end. A command that does not exit in time is killed, and fails
// the test.
func finish(t *testing.T, cmd *exec.Cmd) result {
	t.Helper()
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killer := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer killer.Stop()
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	if cmd.ProcessState.ExitCode() < 0 {
		t.Errorf("%q did not exit:\n%s", cmd.Args, output.String())
	}
	return result{cmd.ProcessState.ExitCode(), output.String()}
}

// await waits until a condition holds.
func await(t *testing.T, condition string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if holds() {
			return
		}
	}
	t.Fatalf("%s: not within %v", condition, patience)
}

// TestPasswordInFlag checks that each command refuses a flag with a password, which would be
// visible in the list of processes, and names the remedy.
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
			if r.code != 2 || strings.Contains(r.output, "SECRET") || !strings.Contains(r.output, "STORAGE_URL_FILE") {
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
			file := filepath.Join(t.TempDir(), "url")
			if err := os.WriteFile(file, []byte(url+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, env := range []string{"STORAGE_URL=" + url, "STORAGE_URL_FILE=" + file} {
				dir := t.TempDir()
				r := finish(t, plantstore.Command(t, dir, []string{"ADDR=127.0.0.1:0", env, "JWT_SECRET=0123456789abcdef0123456789abcdef"}, strings.Fields(command)...))
				if strings.Contains(r.output, "SECRET@") || strings.Contains(strings.ReplaceAll(r.output, "JWT_SECRET", ""), "SECRET") {
					t.Errorf("%s with %s prints the password:\n%s", command, env, r.output)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
					t.Errorf("%s with %s created %v, %v", command, env, entries, err)
				}
				if command == "serve" && r.code == 0 {
					t.Errorf("serve with %s started:\n%s", env, r.output)
				}
			}
		}
	}
}

// TestStorageURLFile checks that the URL in a file, and a path behind its scheme, work.
func TestStorageURLFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "url"), []byte("bbolt:host=h password=x.db\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	server := plantstore.Start(t, plantstore.Options{Dir: dir, Args: []string{"--storage-url-file", "url"}})
	if _, err := os.Stat(filepath.Join(dir, "host=h password=x.db")); err != nil {
		t.Error(err)
	}
	if log := server.Log(); !strings.Contains(log, "--storage-url-file url") || strings.Contains(log, "WARN") {
		t.Errorf("the log has no command for a token, or a warning:\n%s", log)
	}
	r := finish(t, plantstore.Command(t, dir, []string{"STORAGE_URL_FILE=url"}, "plants", "count"))
	if r.code != 0 || r.output != "0\n" {
		t.Errorf("plants count: exit code %d, %s", r.code, r.output)
	}
	both := finish(t, plantstore.Command(t, dir, []string{"STORAGE_URL_FILE=url", "STORAGE_URL=a.db"}, "plants", "count"))
	if both.code != 2 || !strings.Contains(both.output, "STORAGE_URL and STORAGE_URL_FILE are both given") {
		t.Errorf("with both: exit code %d, %s", both.code, both.output)
	}
}
