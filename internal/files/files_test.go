package files_test

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

	"plantstore/internal/files"
	"plantstore/internal/must"
)

// put returns a function that writes content.
func put(content string) func(*os.File) error {
	return func(file *os.File) error {
		_, err := file.WriteString(content)
		return err
	}
}

// wantOnly checks that dir contains only a file with that name and content, which only its owner
// may open.
func wantOnly(t *testing.T, dir, name, content string) {
	t.Helper()
	entries := must.Get(os.ReadDir(dir))(t)
	if len(entries) != 1 || entries[0].Name() != name {
		t.Errorf("the directory holds %v, want %s alone", entries, name)
	}
	if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != content {
		t.Errorf("%s holds %q, %v, want %q", name, got, err, content)
	}
	if info, err := os.Stat(filepath.Join(dir, name)); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o600 {
		t.Errorf("%s: %v, %v, want mode 0600", name, info, err)
	}
}

// output returns the way of CreateOutput.
func output(force bool) func(string, func(*os.File) error) error {
	return func(path string, write func(*os.File) error) error { return files.CreateOutput(path, force, write) }
}

// ways returns the functions that create a file.
func ways() map[string]func(string, func(*os.File) error) error {
	return map[string]func(string, func(*os.File) error) error{
		"Create":  files.Create,
		"Output":  output(false),
		"Replace": output(true),
	}
}

// TestComplete checks that a file appears under its name when it is complete, and not at all if it
// cannot be completed.
func TestComplete(t *testing.T) {
	for name, create := range ways() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir) // the temporary file must be in the same file system
			errWrite := errors.New("no space")
			err := create("a secret", func(file *os.File) error { return errors.Join(put("half")(file), errWrite) })
			if !errors.Is(err, errWrite) {
				t.Errorf("a failing write: %v", err)
			}
			err = create("a secret", func(file *os.File) error {
				if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != file.Name() || !strings.HasPrefix(file.Name(), ".a secret-") {
					t.Errorf("meanwhile the directory holds %v, want %s", entries, file.Name())
				}
				return put("complete")(file)
			})
			if err != nil {
				t.Fatal(err)
			}
			wantOnly(t, dir, "a secret", "complete")
			err = create("none/secret", put(""))
			if failure, ok := errors.AsType[*fs.PathError](err); !ok || !errors.Is(err, fs.ErrNotExist) || strings.Contains(failure.Path, ".tmp") {
				t.Errorf("in no directory: %v", err)
			}
		})
	}
}

// TestNeverReplaces checks that of several processes one creates the file, which only Replace replaces.
func TestNeverReplaces(t *testing.T) {
	t.Parallel()
	for name, create := range ways() {
		dir := t.TempDir()
		path := filepath.Join(dir, "secret")
		if name == "Replace" {
			must.Do(t, errors.Join(os.WriteFile(path, []byte("old"), 0o600), create(path, put("new"))))
			wantOnly(t, dir, "secret", "new")
			continue
		}
		var outcomes [32]error
		var wg sync.WaitGroup
		for i := range outcomes {
			wg.Go(func() { outcomes[i] = create(path, put(fmt.Sprint(i))) })
		}
		wg.Wait()
		winner := -1
		for i, err := range outcomes {
			switch {
			case err == nil && winner >= 0:
				t.Errorf("%s: %d and %d both succeeded", name, winner, i)
			case err == nil:
				winner = i
			case !errors.Is(err, fs.ErrExist):
				t.Errorf("%s: %v, want: %v", name, err, fs.ErrExist)
			}
		}
		wantOnly(t, dir, "secret", fmt.Sprint(winner))
	}
}

// crashEnv makes the test process exit while it creates the file with that name.
const crashEnv = "FILES_TEST_CRASH"

// TestCrash checks that a process that dies leaves no file, and that what it leaves is removed by the next one that
// creates a file there, or, while others do, by the next one that creates this file as an output.
func TestCrash(t *testing.T) {
	if path := os.Getenv(crashEnv); path != "" {
		err := files.Create(path, func(file *os.File) error {
			_ = put("half")(file)
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		})
		t.Fatalf("Create returned: %v", err)
	}
	t.Parallel()
	dir := t.TempDir()
	path, other, longer := filepath.Join(dir, "secret"), filepath.Join(dir, "other"), filepath.Join(dir, ".secret-5-"+strings.Repeat("A", 26)+".tmp")
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestCrash$")
	child.Env = append(os.Environ(), crashEnv+"="+path)
	if out, err := child.CombinedOutput(); err == nil || child.ProcessState.Exited() && runtime.GOOS != "windows" {
		t.Fatalf("the child was not killed: %v\n%s", err, out)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".secret-*.tmp")); len(left) != 1 {
		t.Errorf("the crash left %v, want one temporary file", left)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after the crash the file is there: %v", err)
	}
	left := must.Get(filepath.Glob(filepath.Join(dir, ".secret-*.tmp")))(t)[0]
	err := files.Create(path, func(file *os.File) error {
		// A temporary file of a process that runs is not removed.
		return errors.Join(put("complete")(file), files.Create(other, put("")), os.Remove(other))
	})
	if err != nil {
		t.Errorf("after the crash: %v", err)
	}
	if runtime.GOOS != "windows" { // which locks no directories
		wantOnly(t, dir, "secret", "complete")
	}
	err = output(false)(other, func(*os.File) error {
		random := filepath.Join(dir, ".secret-"+strings.Repeat("A", 30)+".tmp") // rand.Text may become longer
		return errors.Join(os.WriteFile(left, nil, 0o600), os.WriteFile(random, nil, 0o600), os.WriteFile(longer, nil, 0o600),
			output(true)(path, put("forced")))
	})
	must.Do(t, errors.Join(err, os.Remove(longer), os.Remove(other))) // longer is of another file
	wantOnly(t, dir, "secret", "forced")
	if err = output(false)(other, func(*os.File) error { return output(false)(other, put("")) }); !errors.Is(err, fs.ErrExist) {
		t.Errorf("two processes write a file: %v, want: %v", err, fs.ErrExist)
	}
}

func TestMkdirAll(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var wg sync.WaitGroup
	for _, path := range []string{".", "", "a/b c/d", "a/../e", filepath.Join(dir, "f", "g")} {
		for range 8 { // of several processes
			wg.Go(func() {
				if err := files.MkdirAll(path, 0o750); err != nil {
					t.Errorf("MkdirAll(%q): %v", path, err)
				}
			})
		}
	}
	wg.Wait()
	for _, path := range []string{"a/b c/d", "e", "f/g"} {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || runtime.GOOS != "windows" && info.Mode().Perm()&0o007 != 0 {
			t.Errorf("%s: %v, %v", path, info, err)
		}
	}
	must.Do(t, os.WriteFile("file", nil, 0o600))
	for _, path := range []string{"file", "file/a"} {
		if err := files.MkdirAll(path, 0o750); err == nil || !strings.Contains(err.Error(), "file") {
			t.Errorf("MkdirAll(%q): %v, want an error that names the file", path, err)
		}
	}
}
