//go:build unix

package atomicfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/atomicfile"
	"plantstore/internal/testkit"
)

// stranger is a user other than the user of the tests.
const stranger = 65532

// mustDir creates a directory with a mode, of a user.
func mustDir(t *testing.T, path string, mode fs.FileMode, owner int) {
	t.Helper()
	if err := errors.Join(os.Mkdir(path, 0o700), os.Chown(path, owner, owner), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
}

// mustLink creates a symbolic link of a user.
func mustLink(t *testing.T, target, path string, owner int) {
	t.Helper()
	if err := errors.Join(os.Symlink(target, path), os.Lchown(path, owner, owner)); err != nil {
		t.Fatal(err)
	}
}

// ways returns the functions that write to a path.
func ways() map[string]func(path string) error {
	return map[string]func(path string) error{
		"Create":  func(path string) error { return atomicfile.Create(path, 0o600, put("new")) },
		"Replace": func(path string) error { return atomicfile.Replace(path, 0o600, put("new")) },
		"MkdirAll": func(path string) error {
			return atomicfile.MkdirAll(filepath.Join(path, "a", "b"), 0o750)
		},
		"OpenFile": func(path string) error {
			file, err := atomicfile.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
			if err != nil {
				return err
			}
			return file.Close()
		},
	}
}

func TestRootRefusesDirectory(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "give files away")
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string) (path string)
		want string // in the error; empty: none
	}{
		"of another user": {func(t *testing.T, dir string) string {
			t.Helper()
			mustDir(t, dir+"/theirs", 0o700, stranger)
			return dir + "/theirs/file"
		}, "/theirs, which belongs to the user 65532"},
		"below a directory of another user": {func(t *testing.T, dir string) string {
			t.Helper()
			mustDir(t, dir+"/theirs", 0o700, stranger)
			mustDir(t, dir+"/theirs/ours", 0o700, 0)
			return dir + "/theirs/ours/file"
		}, "/theirs, which belongs to the user 65532"},
		"behind a link": {func(t *testing.T, dir string) string {
			t.Helper()
			mustDir(t, dir+"/theirs", 0o700, stranger)
			mustLink(t, "theirs", dir+"/link", 0)
			return dir + "/link/file"
		}, "/theirs, which belongs to the user 65532"},
		"open to everybody": {func(t *testing.T, dir string) string {
			t.Helper()
			mustDir(t, dir+"/open", 0o777, 0)
			return dir + "/open/file"
		}, "/open, where other users could"},
		"open to a group": {func(t *testing.T, dir string) string {
			t.Helper()
			mustDir(t, dir+"/open", 0o700, 0)
			if err := errors.Join(os.Chown(dir+"/open", 0, stranger), os.Chmod(dir+"/open", 0o770)); err != nil { //nolint:gosec // this mode is refused
				t.Fatal(err)
			}
			return dir + "/open/file"
		}, "/open, where other users could"},
		"sticky": {func(t *testing.T, dir string) string {
			t.Helper()
			mustDir(t, dir+"/sticky", fs.ModeSticky|0o777, 0)
			return dir + "/sticky/file"
		}, ""},
	} {
		for way, write := range ways() {
			t.Run(name+" "+way, func(t *testing.T) {
				t.Parallel()
				path := tt.make(t, t.TempDir())
				err := write(path)
				if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
					t.Errorf("%v, want: %q", err, tt.want)
				}
				if _, err := os.Lstat(path); (err == nil) != (tt.want == "") {
					t.Errorf("afterwards: %v", err)
				}
			})
		}
	}
}

// TestForeignLink checks that in a world-writable directory, only the links of its owner and of
// the caller are followed.
func TestForeignLink(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "give files away")
	for way, write := range ways() {
		for _, owner := range []int{0, stranger} {
			dir := t.TempDir()
			mustDir(t, dir+"/target", 0o700, 0)
			mustDir(t, dir+"/sticky", fs.ModeSticky|0o777, 0)
			mustLink(t, "../target", dir+"/sticky/link", owner)
			err := write(dir + "/sticky/link/file")
			switch {
			case owner == 0 && err != nil:
				t.Errorf("%s through our link: %v", way, err)
			case owner != 0 && (err == nil || !strings.Contains(err.Error(), "/sticky/link belongs to the user 65532")):
				t.Errorf("%s through another user's link: %v", way, err)
			}
		}
	}
}

// TestReplaceFollowsLink checks that Replace replaces the target of a symbolic link: the
// destination of an export is often a link.
func TestReplaceFollowsLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink("../"+filepath.Base(dir)+"/target", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(dir+"/./link", 0o600, put("new")); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(dir + "/target"); string(got) != "new" {
		t.Errorf("the target holds %q, %v", got, err)
	}
	if err := os.Symlink("loop", dir+"/loop"); err != nil {
		t.Fatal(err)
	}
	if err := atomicfile.Replace(dir+"/loop", 0o600, put("new")); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("Replace of a loop: %v", err)
	}
}

// TestOpenForeignFile checks that a file that another user has created first in /tmp, to read
// its contents, is refused.
func TestOpenForeignFile(t *testing.T) {
	t.Parallel()
	testkit.RequireRoot(t, "give files away")
	dir := t.TempDir()
	mustDir(t, dir+"/sticky", fs.ModeSticky|0o777, 0)
	path := dir + "/sticky/log"
	if err := errors.Join(os.WriteFile(path, nil, 0o600), os.Chown(path, stranger, stranger)); err != nil {
		t.Fatal(err)
	}
	if err := ways()["OpenFile"](path); err == nil || !strings.Contains(err.Error(), path+" belongs to the user 65532") {
		t.Errorf("OpenFile: %v", err)
	}
}

// TestOpenDescriptor checks that a descriptor opens by its name in /proc, whatever it leads to.
func TestOpenDescriptor(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		testkit.NotChecked(t, "this system has no /proc/self/fd")
	}
	for _, path := range []string{"/dev/stdout", "/proc/self/fd/1"} {
		file, err := atomicfile.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		opened, err := file.Stat()
		stdout, stdoutErr := os.Stdout.Stat()
		if err = errors.Join(err, stdoutErr, file.Close()); err != nil || !os.SameFile(opened, stdout) {
			t.Errorf("OpenFile(%s) opened another file: %v", path, err)
		}
	}
}

// TestOpenTemporaryFileAgain checks that the name of a temporary file is not trusted: the same
// file is opened.
func TestOpenTemporaryFileAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	err := atomicfile.Create(filepath.Join(dir, "file"), 0o600, func(file *atomicfile.File) error {
		again, err := file.OpenFile("ignored", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		if err != nil {
			return err
		}
		if err := errors.Join(again.Close(), os.Remove(file.Name()), os.Symlink("victim", file.Name())); err != nil {
			return err
		}
		_, err = file.OpenFile("ignored", os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "was replaced by another user") {
		t.Errorf("Create: %v", err)
	}
	if got, err := os.ReadFile(victim); string(got) != "precious" {
		t.Errorf("the victim holds %q, %v", got, err)
	}
}
