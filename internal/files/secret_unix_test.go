//go:build unix

package files_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"plantstore/internal/files"
	"plantstore/internal/must"
)

const content = "a secret"

// newFile creates a file with that mode.
func newFile(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	must.Do(t, errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode)))
	return path
}

// readers returns the functions that read a file.
func readers() map[string]func(path string) ([]byte, error) {
	return map[string]func(path string) ([]byte, error){
		"ReadSecret": files.ReadSecret, "ReadPublic": files.ReadPublic, "ReadConfig": files.ReadConfig, "ReadGenerated": files.ReadGenerated,
	}
}

// TestModes checks which modes are refused. Owners are checked in e2e/attack.
func TestModes(t *testing.T) {
	t.Parallel()
	const changed, read = "other users can change it", "other users can read it"
	for mode, want := range map[fs.FileMode]map[string]string{
		0o600: {}, 0o400: {}, 0o700: {},
		0o640: {"ReadGenerated": read},
		0o604: {"ReadGenerated": read},
		0o660: {"ReadSecret": changed, "ReadGenerated": changed}, // the group of this process
		0o620: {"ReadSecret": changed, "ReadGenerated": changed},
		0o602: {"ReadSecret": changed, "ReadPublic": changed, "ReadConfig": changed, "ReadGenerated": changed},
	} {
		path := newFile(t, mode)
		for name, read := range readers() {
			contents, err := read(path)
			switch want := want[name]; {
			case want == "":
				if err != nil || string(contents) != content {
					t.Errorf("%s, mode %v: %q, %v", name, mode, contents, err)
				}
			case err == nil || !strings.Contains(err.Error(), want) || contents != nil:
				t.Errorf("%s, mode %v: %q, %v, want %q", name, mode, contents, err, want)
			}
		}
	}
}

// TestLinks checks that links are followed, as Kubernetes mounts secrets through them, but not in
// the place of a generated secret or of .env. The target is checked.
func TestLinks(t *testing.T) {
	t.Parallel()
	for mode, ok := range map[fs.FileMode]bool{0o600: true, 0o602: false} {
		link := filepath.Join(t.TempDir(), "link")
		must.Do(t, os.Symlink(newFile(t, mode), link))
		for name, read := range readers() {
			if _, err := read(link); (err == nil) != (ok && name != "ReadGenerated" && name != "ReadConfig") {
				t.Errorf("%s of a link to a file with mode %v: %v", name, mode, err)
			}
		}
	}
}

// TestIrregular checks that a FIFO is refused without waiting for its writer, as is a directory.
func TestIrregular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	must.Do(t, syscall.Mkfifo(fifo, 0o600))
	for name, read := range readers() {
		for _, path := range []string{fifo, dir} {
			if _, err := read(path); err == nil || !strings.Contains(err.Error(), path+": it is not a regular file") {
				t.Errorf("%s(%s): %v", name, path, err)
			}
		}
	}
}

// TestInheritedPipe checks that a pipe of the shell is read to its end, whatever its mode.
func TestInheritedPipe(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = reader.Close() }()
	_ = reader.Chmod(0o666) // as a terminal, which its group can write to; not every system lets it
	go func() {
		_, _ = writer.WriteString(content)
		_ = writer.Close()
	}()
	if got, err := files.ReadSecret(fmt.Sprint("/dev/fd/", reader.Fd())); err != nil || string(got) != content {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLimit checks that a file is read up to its limit only.
func TestLimit(t *testing.T) {
	t.Parallel()
	path := newFile(t, 0o600)
	for size, wanted := range map[int]map[string]bool{
		64 << 10:   {"ReadSecret": true, "ReadPublic": true, "ReadConfig": true, "ReadGenerated": true},
		64<<10 + 1: {"ReadPublic": true},
		1 << 20:    {"ReadPublic": true},
		1<<20 + 1:  {},
		1 << 30:    {},
	} {
		must.Do(t, os.Truncate(path, int64(size)))
		for name, read := range readers() {
			if _, err := read(path); (err == nil) != wanted[name] || err != nil && !strings.HasPrefix(err.Error(), path+": the file is too long") {
				t.Errorf("%s of %d bytes: %v", name, size, err)
			}
		}
	}
}

// TestMissing checks that the error of a missing file does not have its name, which may be a secret
// or a URL in the place of a name.
func TestMissing(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"hunter2", t.TempDir() + "/hunter2", "postgres://u:hunter2@h/db", strings.Repeat("x", 5000), "a\x00b"} {
		for name, read := range map[string]func(path string) ([]byte, error){
			"ReadSecret": files.ReadSecret, "ReadPublic": files.ReadPublic,
		} {
			if _, err := read(path); err == nil || strings.Contains(err.Error(), path) {
				t.Errorf("%s(%.40q): %v", name, path, err)
			}
		}
	}
}

// TestByteOrderMark checks that a byte order mark at the beginning is not part of a file.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	path := newFile(t, 0o600)
	for text, want := range map[string]string{"\ufeffa\ufeff": "a\ufeff", "\ufeff\ufeffa": "\ufeffa", "\ufeff": "", "a\ufeff": "a\ufeff"} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := files.ReadSecret(path); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
