//go:build unix

package secretfile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/secretfile"
	"plantstore/internal/testkit"
)

const (
	limit   = 64
	content = "a secret"
	other   = 65532 // a user and a group other than the tests' own
)

// newFile makes a file of that mode.
func newFile(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

// give gives a file to another group, and to a user unless that is -1. Only root can.
func give(t *testing.T, path string, uid int) {
	t.Helper()
	testkit.RequireRoot(t, "give files away")
	if err := os.Lchown(path, uid, other); err != nil {
		t.Fatal(err)
	}
}

// check checks the results of all ways of reading.
func check(t *testing.T, path, want string, exposed bool) {
	t.Helper()
	var reported []string
	contents, err := secretfile.Read(path, limit, func(e secretfile.Exposure) { reported = append(reported, e.Path) })
	checkOutcome(t, path, want, contents, err)
	if want == "" && slices.Equal(reported, []string{path}) != exposed {
		t.Errorf("%s: reported %v, want it reported: %t", path, reported, exposed)
	}
}

func checkOutcome(t *testing.T, path, want string, contents []byte, err error) {
	t.Helper()
	switch {
	case want == "" && (err != nil || string(contents) != content):
		t.Errorf("%s: %q, %v", path, contents, err)
	case want != "" && (!errors.Is(err, secretfile.ErrUntrusted) || !strings.Contains(err.Error(), want) || contents != nil):
		t.Errorf("%s: %q, %v, want ErrUntrusted with %q", path, contents, err, want)
	}
}

func TestModes(t *testing.T) {
	t.Parallel()
	for mode, test := range map[fs.FileMode]struct {
		want    string
		exposed bool
	}{
		0o600: {"", false}, 0o400: {"", false}, 0o700: {"", false},
		0o640: {"", true}, 0o644: {"", true}, 0o604: {"", true}, 0o440: {"", true},
		0o660: {"its mode is 0660", false}, 0o666: {"its mode is 0666", false},
		0o620: {"its mode is 0620", false}, 0o602: {"its mode is 0602", false},
	} {
		check(t, newFile(t, mode), test.want, test.exposed)
	}
}

// TestSharedModes checks that files that others may read have other rules: where each user has
// a group, new files are writable to it.
func TestSharedModes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{0o644: "", 0o664: "", 0o666: "its mode is 0666", 0o602: "its mode is 0602"} {
		path := newFile(t, mode)
		contents, err := secretfile.ReadShared(path, limit)
		checkOutcome(t, path, want, contents, err)
		contents, err = secretfile.ReadConfig(path, limit, nil)
		checkOutcome(t, path, want, contents, err)
	}
	path := newFile(t, 0o664)
	give(t, path, -1)
	contents, err := secretfile.ReadShared(path, limit)
	checkOutcome(t, path, "its mode is 0664", contents, err)
}

func TestOwners(t *testing.T) {
	t.Parallel()
	path := newFile(t, 0o600)
	give(t, path, other)
	check(t, path, "it belongs to the user 65532, and this process runs as 0", false)
	contents, err := secretfile.ReadShared(path, limit)
	checkOutcome(t, path, "it belongs to the user 65532", contents, err)
	contents, err = secretfile.ReadConfig(path, limit, nil)
	checkOutcome(t, path, "it belongs to the user 65532", contents, err)
}

// TestLinks checks that a link is followed, as Kubernetes mounts secrets behind two, and its
// target counts.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := func(target, name string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	if err := os.Mkdir(filepath.Join(dir, "..2026"), 0o755); err != nil { //nolint:gosec // as Kubernetes does
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "..2026", "secret"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	link("..2026", "..data")
	check(t, link(filepath.Join("..data", "secret"), "secret"), "", false)
	check(t, link(newFile(t, 0o666), "writable"), "its mode is 0666", false)
	theirs := newFile(t, 0o600)
	give(t, theirs, other)
	check(t, link(theirs, "theirs"), "it belongs to the user 65532", false)
}

// TestPlaces checks that in a world-writable directory no file is safe, but in a sticky one it
// is.
func TestPlaces(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{
		0o755: "", 0o775: "", 0o777 | fs.ModeSticky: "", 0o711: "", 0o777: "the mode of the directory is 0777", 0o733: "the mode of the directory is 0733",
	} {
		path := newFile(t, 0o600)
		dir := filepath.Dir(path)
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		check(t, path, want, false)
		contents, err := secretfile.ReadShared(path, limit)
		checkOutcome(t, path, want, contents, err)
		if err := secretfile.CheckDirectory(dir); (err == nil) != (want == "") || err != nil && !errors.Is(err, secretfile.ErrUntrusted) {
			t.Errorf("the directory, mode %v: %v", mode, err)
		}
	}
}

// TestDirectories checks that generated secrets also need a directory of a trusted user.
func TestDirectories(t *testing.T) {
	t.Parallel()
	if err := secretfile.CheckDirectory(filepath.Join(t.TempDir(), "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	theirs, group := t.TempDir(), t.TempDir()
	give(t, theirs, other)
	if err := secretfile.CheckDirectory(theirs); !errors.Is(err, secretfile.ErrUntrusted) || !strings.Contains(err.Error(), "65532") {
		t.Errorf("another user's: %v", err)
	}
	give(t, group, -1)
	if err := os.Chmod(group, 0o770); err != nil { //nolint:gosec // see the comment
		t.Fatal(err)
	}
	if err := secretfile.CheckDirectory(group); !errors.Is(err, secretfile.ErrUntrusted) {
		t.Errorf("another group may write to it: %v", err)
	}
}

// TestPipes checks that pipes work: a named one, if no other user may write to it, and an
// inherited one.
func TestPipes(t *testing.T) {
	t.Parallel()
	for mode, want := range map[fs.FileMode]string{0o600: "", 0o666: "its mode is 0666"} {
		path := filepath.Join(t.TempDir(), "fifo")
		if err := errors.Join(syscall.Mkfifo(path, 0o600), os.Chmod(path, mode)); err != nil {
			t.Fatal(err)
		}
		written := make(chan error)
		go func() { written <- os.WriteFile(path, []byte(content), 0o600) }() // waits for the reader
		check(t, path, want, false)
		if err := <-written; err != nil && !errors.Is(err, syscall.EPIPE) {
			t.Error(err)
		}
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	_ = reader.Chmod(0o666) // as a terminal, which its group can write to; not every system lets it
	if _, err := writer.WriteString(content); err != nil {
		t.Fatal(err)
	}
	_ = writer.Close()
	check(t, fmt.Sprint("/dev/fd/", reader.Fd()), "", false)
}

// TestLimit checks that an endless file is not read forever.
func TestLimit(t *testing.T) {
	t.Parallel()
	path := newFile(t, 0o600)
	if err := os.WriteFile(path, make([]byte, limit+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := secretfile.Read(path, limit, nil); err == nil || !strings.HasPrefix(err.Error(), path+": the file is too long") {
		t.Errorf("got %v", err)
	}
	if _, err := secretfile.Read(path+"/x", limit, nil); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("below a file: %v", err)
	}
	for _, none := range []string{path + "x", "", filepath.Join(path+"x", "y")} {
		if _, err := secretfile.Read(none, limit, nil); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", none, err)
		}
	}
	if _, err := secretfile.Read(filepath.Dir(path)+"/", limit, nil); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("a directory: %v", err)
	}
}

// TestOnce checks that however often a file is read, it is reported once.
func TestOnce(t *testing.T) {
	t.Parallel()
	n, path := 0, newFile(t, 0o644)
	report := secretfile.Once(func(e secretfile.Exposure) {
		n++
		if text := e.String(); !strings.Contains(text, path) || !strings.Contains(text, "0644") {
			t.Error(text)
		}
	})
	for range 3 {
		if _, err := secretfile.Read(path, limit, report); err != nil {
			t.Fatal(err)
		}
	}
	if n != 1 {
		t.Errorf("reported %d times", n)
	}
}

// TestByteOrderMark checks that a byte order mark at the beginning is not part of a file.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret")
	for text, want := range map[string]string{"\ufeffa\ufeff": "a\ufeff", "\ufeff\ufeffa": "\ufeffa", "\ufeff": "", "a\ufeff": "a\ufeff"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := secretfile.Read(path, 100, nil); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
