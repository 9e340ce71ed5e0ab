package atomicfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"plantstore/internal/atomicfile"
)

func TestMkdirAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b c", "d")
	for range 2 { // the second time it exists
		if err := atomicfile.MkdirAll(dir, 0o750); err != nil {
			t.Fatalf("MkdirAll: %v", err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || !info.IsDir() {
		t.Fatalf("Stat = %v, %v, want a directory", info, err)
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && mode&0o007 != 0 {
		t.Errorf("mode %v is open to everybody", mode)
	}
}

func TestMkdirAllRelative(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{".", "", "a", "a/../b/c"} {
		if err := atomicfile.MkdirAll(dir, 0o750); err != nil {
			t.Errorf("MkdirAll(%q): %v", dir, err)
		}
	}
	if _, err := os.Stat("b/c"); err != nil {
		t.Error(err)
	}
}

func TestMkdirAllRacing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "b", "c")
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if err := atomicfile.MkdirAll(dir, 0o750); err != nil {
				t.Errorf("MkdirAll: %v", err)
			}
		})
	}
	wg.Wait()
}

func TestMkdirAllUnderFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{file, filepath.Join(file, "a")} {
		if err := atomicfile.MkdirAll(dir, 0o750); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("MkdirAll(%q): %v, want an error that names the file", dir, err)
		}
	}
}

func TestSyncDir(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := atomicfile.SyncDir(dir); err != nil {
		t.Errorf("SyncDir: %v", err)
	}
	err := atomicfile.SyncDir(filepath.Join(dir, "none"))
	if runtime.GOOS != "windows" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SyncDir of a missing directory: %v", err)
	}
}

// put returns a function for Create that writes content.
func put(content string) func(file *atomicfile.File) error {
	return func(file *atomicfile.File) error {
		_, err := file.WriteString(content)
		return err
	}
}

// wantOnly checks that dir contains only a file with that name and those contents.
func wantOnly(t *testing.T, dir, name, content string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the directory holds %v, want %s alone", entries, name)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
		t.Errorf("%s holds %q, %v, want %q", name, got, err, content)
	}
}

func TestCreate(t *testing.T) {
	t.Parallel()
	for _, perm := range []fs.FileMode{0o600, 0o640, 0o400} {
		dir := t.TempDir()
		path := filepath.Join(dir, "the secret")
		err := atomicfile.Create(path, perm, func(file *atomicfile.File) error {
			if filepath.Dir(file.Name()) != dir || !strings.HasPrefix(filepath.Base(file.Name()), ".the secret-") {
				t.Errorf("temporary name %q", file.Name())
			}
			if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("path exists before it is complete: %v", err)
			}
			if info, err := file.Stat(); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("temporary file: %v, %v", info, err)
			}
			return put("complete")(file)
		})
		if err != nil {
			t.Fatalf("Create: %v", err)
		}
		wantOnly(t, dir, "the secret", "complete")
		info, err := os.Stat(path)
		if err != nil || runtime.GOOS != "windows" && info.Mode() != perm {
			t.Errorf("mode = %v, %v, want %v", info.Mode(), err, perm)
		}
	}
}

func TestCreateInWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	err := atomicfile.Create("secret", 0o600, func(file *atomicfile.File) error {
		if at, err := filepath.Abs(filepath.Dir(file.Name())); err != nil || at != dir { // another directory may be another file system
			t.Errorf("temporary name %q", file.Name())
		}
		return put("complete")(file)
	})
	if err != nil {
		t.Fatalf("Create: %v", err)
	}
	wantOnly(t, dir, "secret", "complete")
}

func TestCreateNeverReplaces(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	for i, want := range []error{nil, fs.ErrExist, fs.ErrExist} {
		if err := atomicfile.Create(path, 0o600, put(fmt.Sprint(i))); !errors.Is(err, want) {
			t.Errorf("Create %d: %v, want: %v", i, err, want)
		}
	}
	wantOnly(t, dir, "secret", "0")
}

func TestCreateFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	errWrite := errors.New("no space")
	err := atomicfile.Create(filepath.Join(dir, "secret"), 0o600, func(file *atomicfile.File) error {
		return errors.Join(put("half")(file), errWrite)
	})
	if !errors.Is(err, errWrite) {
		t.Errorf("Create: %v, want: %v", err, errWrite)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the directory holds %v, %v, want no files", entries, err)
	}
	if err := atomicfile.Create(filepath.Join(dir, "none", "secret"), 0o600, put("")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Create in no directory: %v", err)
	}
}

// TestCreateRacing races creates within one process; the links are still made by the system.
func TestCreateRacing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "secret")
	var outcomes [32]error
	var wg sync.WaitGroup
	for i := range outcomes {
		wg.Go(func() { outcomes[i] = atomicfile.Create(path, 0o600, put(fmt.Sprint(i))) })
	}
	wg.Wait()
	winner := -1
	for i, err := range outcomes {
		switch {
		case err == nil && winner >= 0:
			t.Errorf("%d and %d both succeeded", winner, i)
		case err == nil:
			winner = i
		case !errors.Is(err, fs.ErrExist):
			t.Errorf("Create: %v, want: %v", err, fs.ErrExist)
		}
	}
	wantOnly(t, dir, "secret", fmt.Sprint(winner))
}

// crashEnv makes the test process exit while it creates the file with that name.
const crashEnv = "ATOMICFILE_TEST_CRASH"

func TestCreateCrash(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		err := atomicfile.Create(path, 0o600, func(file *atomicfile.File) error {
			_ = put("half")(file)
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		})
		t.Fatalf("Create returned: %v", err)
	}
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCreateCrash$") //nolint:gosec // this test itself
	child.Env = append(os.Environ(), crashEnv+"="+path)
	if out, err := child.CombinedOutput(); err == nil || child.ProcessState.Exited() && runtime.GOOS != "windows" {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the crash the file is there: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".secret-*.tmp")); len(left) != 1 {
		t.Errorf("the crash left %v, want one temporary file", left)
	}
	if err := atomicfile.Create(path, 0o600, put("complete")); err != nil {
		t.Errorf("Create after the crash: %v", err)
	}
	if got, err := os.ReadFile(path); string(got) != "complete" {
		t.Errorf("the file holds %q, %v", got, err)
	}
}
