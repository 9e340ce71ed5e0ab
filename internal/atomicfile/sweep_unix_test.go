//go:build unix

package atomicfile

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// dyingEnv names the directory in which the process of [TestSweep] creates a file until it is
// killed.
const dyingEnv = "ATOMICFILE_DYING"

// TestSweep checks that the temporary file of a killed process is removed when the next file is
// created in the directory, but not while another process is creating one. Other files stay.
func TestSweep(t *testing.T) {
	if dir := os.Getenv(dyingEnv); dir != "" {
		err := Create(filepath.Join(dir, "theirs"), 0o600, func(*File) error {
			_, _ = os.Stdout.WriteString("\n")
			select {} // until it is killed
		})
		t.Fatal(err)
	}
	t.Parallel()
	dir := t.TempDir()
	others := []string{".a-1.tmp", ".plantstore.tmp.txt", "a.plantstore.tmp"}
	for _, name := range others {
		write(t, filepath.Join(dir, name))
	}
	if err := os.Mkdir(filepath.Join(dir, ".directory.plantstore.tmp"), 0o700); err != nil {
		t.Fatal(err)
	}
	maker := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestSweep$") //nolint:gosec // this test itself
	maker.Env = append(os.Environ(), dyingEnv+"="+dir)
	out, err := maker.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := maker.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, ".another-1.plantstore.tmp")) // left by a process that was killed before

	replace(t, dir, "first")
	if left := leftOver(t, dir); len(left) != 2 {
		t.Errorf("while another process makes a file there are %q, want its own and the other one", left)
	}
	_ = maker.Process.Kill()
	_ = maker.Wait()
	replace(t, dir, "second")
	if left := leftOver(t, dir); len(left) != 0 {
		t.Errorf("%q are left", left)
	}
	for _, name := range append(others, ".directory.plantstore.tmp", "first", "second") {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
}

// TestLockedDirectory checks that a lock of another program on the directory, such as flock(1),
// does not block a create; the temporary file then has a name that is not swept.
func TestLockedDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	d, err := os.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := syscall.Flock(int(d.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	err = Create(filepath.Join(dir, "file"), 0o600, func(file *File) error {
		if strings.HasSuffix(file.Name(), sweptSuffix) {
			t.Errorf("%s would be swept away", file.Name())
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func write(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func replace(t *testing.T, dir, name string) {
	t.Helper()
	if err := Replace(filepath.Join(dir, name), 0o600, func(*File) error { return nil }); err != nil {
		t.Fatal(err)
	}
}

// leftOver returns the files in dir that may be swept away.
func leftOver(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		if name := entry.Name(); strings.HasPrefix(name, ".") && strings.HasSuffix(name, sweptSuffix) && !entry.IsDir() {
			left = append(left, name)
		}
	}
	return left
}
