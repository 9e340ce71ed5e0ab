package attack

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/process"
	"plantstore/e2e/internal/tools"
	"plantstore/internal/must"
)

// precious is the contents of the victim's file.
const precious = "precious\n"

// A site is a directory that all users may enter, with a file of root that only
// root may read or write.
type site struct {
	dir     string
	target  string // the file of root
	program string // a copy of the program under test that all users may run
}

// newSite returns a site. It requires root, which alone may run programs as several users.
func newSite(t *testing.T) site {
	t.Helper()
	tools.RequireRoot(t, "run programs as other users")
	tools.Require(t, "setpriv")
	dir, err := os.MkdirTemp("", "plantstore-attack-") //nolint:usetesting // other users may not enter the directory of the test
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := site{dir: dir, target: filepath.Join(dir, "victim")}
	must.Do(t, os.Chmod(dir, 0o755))
	m.program = m.copyProgram(t, plantstore.Command(t, dir, nil).Path)
	must.Do(t, os.WriteFile(m.target, []byte(precious), 0o600))
	return m
}

// mkdir creates a directory of a user.
func (m site) mkdir(t *testing.T, name string, mode fs.FileMode, owner int) string {
	t.Helper()
	path := filepath.Join(m.dir, name)
	must.Do(t, errors.Join(os.Mkdir(path, 0o700), os.Chown(path, owner, owner), os.Chmod(path, mode)))
	return path
}

// link creates a symbolic link of the attacker to the victim's file.
func (m site) link(t *testing.T, path string) {
	t.Helper()
	must.Do(t, errors.Join(os.Symlink(m.target, path), os.Lchown(path, attacker, attacker)))
}

// checkVictim fails the test if the file of the victim has changed.
func (m site) checkVictim(t *testing.T) {
	t.Helper()
	info := must.Get(os.Lstat(m.target))(t)
	text := must.Get(os.ReadFile(m.target))(t)
	status, _ := info.Sys().(*syscall.Stat_t)
	if string(text) != precious || info.Mode() != 0o600 || status.Uid != 0 || status.Gid != 0 {
		t.Errorf("root's file has mode %v, user %d and %.60q, want 0600, 0 and %q", info.Mode(), status.Uid, text, precious)
	}
}

// database creates a database with a few plants in a directory of root.
func (m site) database(t *testing.T) string {
	t.Helper()
	path := filepath.Join(m.mkdir(t, "data", 0o700, 0), "plants.db")
	plants := filepath.Join(m.dir, "plants.jsonl")
	must.Do(t, os.WriteFile(plants, []byte(`{"id":1,"name":"fern"}`+"\n"+`{"id":2,"name":"moss"}`+"\n"), 0o600))
	if code, out := plantstore.Finish(t, m.command(t, "plants", "import", "--storage-url", path, plants)); code != 0 {
		t.Fatalf("plants import: %s", out)
	}
	return path
}

// command returns a run of the program as root, in the directory of the site.
func (m site) command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	return plantstore.Command(t, m.dir, []string{"ADDR=127.0.0.1:0"}, args...)
}

// commandAs returns a run of the program as another user.
func (m site) commandAs(t *testing.T, user int, args ...string) *exec.Cmd {
	t.Helper()
	cmd := m.command(t, args...)
	m.as(t, cmd, m.program, user)
	return cmd
}

// copyProgram returns a copy of a program that all users may run. This process must not write it: a
// child that it forks meanwhile would have it open, so that it could not be run.
func (m site) copyProgram(t *testing.T, path string) string {
	t.Helper()
	to := filepath.Join(m.dir, filepath.Base(path))
	process.Run(t, "install", "--mode=755", path, to)
	return to
}

// as makes a command run a program with its arguments as another user.
func (m site) as(t *testing.T, cmd *exec.Cmd, program string, user int) {
	t.Helper()
	id := strconv.Itoa(user)
	cmd.Path = tools.Require(t, "setpriv")
	cmd.Args = slices.Concat([]string{cmd.Path, "--reuid=" + id, "--regid=" + id, "--clear-groups", program}, cmd.Args[1:])
}

// startSwapping starts a process of the attacker that replaces each temporary file in dir by a
// link to the victim's file, until the test ends. It returns when the process is running.
func (m site) startSwapping(t *testing.T, dir string) {
	t.Helper()
	self := must.Get(os.Executable())(t)
	cmd := exec.CommandContext(t.Context(), self)
	m.as(t, cmd, m.copyProgram(t, self), attacker)
	cmd.Env = append(os.Environ(), swapEnv+"="+dir, "ATTACK_VICTIM="+m.target)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close() // the process exits
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatalf("the attacker did not start: %v", err)
	}
}

// contents returns the file names in a directory.
func contents(t *testing.T, dir string) string {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}
