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

// The user that runs the program, and an attacker.
const (
	victim   = 65532
	attacker = 65533
)

// precious is the contents of root's file.
const precious = "precious\n"

// A site is a directory that all users may enter, with a file of root that only
// root may read or write.
type site struct {
	t       *testing.T
	dir     string // the working directory
	target  string // the file of root
	program string // a copy of the program under test that all users may run
}

// newSite returns a site. It requires root, which alone may run programs as several users.
func newSite(t *testing.T) site {
	t.Helper()
	tools.RequireRoot(t, "run programs as other users")
	dir, err := os.MkdirTemp("", "plantstore-attack-") //nolint:usetesting // other users may not enter the directory of the test
	must.Do(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := site{t: t, dir: dir, target: filepath.Join(dir, "victim")}
	m.check(os.Chmod(dir, 0o755))
	m.program = m.copyProgram(plantstore.Command(t, dir, nil).Path)
	m.file("victim", precious, 0, 0o600)
	return m
}

// newWork returns a site in which the program runs in a directory of the victim.
func newWork(t *testing.T) site {
	t.Helper()
	m := newSite(t)
	m.dir = m.mkdir("work", 0o700, victim)
	return m
}

func (m site) check(errs ...error) {
	m.t.Helper()
	must.Do(m.t, errors.Join(errs...))
}

// at returns the path of a file.
func (m site) at(name string) string { return filepath.Join(m.dir, name) }

// mkdir creates a directory of a user.
func (m site) mkdir(name string, mode fs.FileMode, owner int) string {
	m.t.Helper()
	m.check(os.Mkdir(m.at(name), 0o700), os.Chown(m.at(name), owner, owner), os.Chmod(m.at(name), mode))
	return m.at(name)
}

// file creates a file of a user, in the place of any other.
func (m site) file(name, contents string, owner int, mode fs.FileMode) {
	m.t.Helper()
	path := m.at(name)
	m.check(os.RemoveAll(path), os.WriteFile(path, []byte(contents), 0o600), os.Chown(path, owner, owner), os.Chmod(path, mode))
}

// link creates a symbolic link of a user, and returns its path.
func (m site) link(target, name string, owner int) string {
	m.t.Helper()
	m.check(os.Symlink(target, m.at(name)), os.Lchown(m.at(name), owner, owner))
	return m.at(name)
}

// contents returns the file names in a directory.
func (m site) contents(dir string) string {
	m.t.Helper()
	var names []string
	for _, entry := range must.Get(os.ReadDir(dir))(m.t) {
		names = append(names, entry.Name())
	}
	return strings.Join(names, " ")
}

// checkVictim fails the test if the file of root has changed.
func (m site) checkVictim() {
	m.t.Helper()
	info := must.Get(os.Lstat(m.target))(m.t)
	text := must.Get(os.ReadFile(m.target))(m.t)
	status, _ := info.Sys().(*syscall.Stat_t)
	if string(text) != precious || info.Mode() != 0o600 || status.Uid != 0 || status.Gid != 0 {
		m.t.Errorf("root's file has mode %v, user %d and %.60q, want 0600, 0 and %q", info.Mode(), status.Uid, text, precious)
	}
}

// database creates a database with a few plants in a directory of root.
func (m site) database() string {
	m.t.Helper()
	m.mkdir("data", 0o700, 0)
	m.file("plants.jsonl", `{"id":1,"name":"fern"}`+"\n"+`{"id":2,"name":"moss"}`+"\n", 0, 0o600)
	if code, out := m.run(0, "plants import plants.jsonl"); code != 0 {
		m.t.Fatalf("plants import: %s", out)
	}
	return m.at("data/plants.db")
}

// run runs the program as a user, with the words of a line as arguments, and returns its exit code
// and its output.
func (m site) run(user int, line string) (code int, output string) {
	m.t.Helper()
	cmd := plantstore.Command(m.t, m.dir, []string{"ADDR=127.0.0.1:0"}, strings.Fields(line)...)
	m.as(cmd, m.program, user)
	return plantstore.Finish(m.t, cmd)
}

// copyProgram returns a copy of a program that all users may run. This process must not write it: a
// child that it forks meanwhile would have it open, so that it could not be run.
func (m site) copyProgram(path string) string {
	m.t.Helper()
	process.Run(m.t, "install", "--mode=755", path, m.at(filepath.Base(path)))
	return m.at(filepath.Base(path))
}

// as makes a command run a program with its arguments as a user.
func (m site) as(cmd *exec.Cmd, program string, user int) {
	m.t.Helper()
	id := strconv.Itoa(user)
	cmd.Path = tools.Require(m.t, "setpriv")
	cmd.Args = slices.Concat([]string{cmd.Path, "--reuid=" + id, "--regid=" + id, "--clear-groups", program}, cmd.Args[1:])
}

// startSwapping starts a process of the attacker that replaces each temporary file in dir by a
// link to root's file, until the test ends. It returns when the process is running.
func (m site) startSwapping(dir string) {
	m.t.Helper()
	self := must.Get(os.Executable())(m.t)
	cmd := exec.CommandContext(m.t.Context(), self)
	m.as(cmd, m.copyProgram(self), attacker)
	cmd.Env = append(os.Environ(), swapEnv+"="+dir, "ATTACK_VICTIM="+m.target)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(m.t)
	out := must.Get(cmd.StdoutPipe())(m.t)
	must.Do(m.t, cmd.Start())
	m.t.Cleanup(func() {
		_ = in.Close() // the process exits
		_ = cmd.Wait()
	})
	if _, err := out.Read(make([]byte, 1)); err != nil {
		m.t.Fatalf("the attacker did not start: %v", err)
	}
}
