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
)

const content = "a secret"

// newFile creates a file with that mode.
func newFile(t *testing.T, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode)); err != nil {
		t.Fatal(err)
	}
	return path
}

// readers returns the functions that read a file, and count exposures.
func readers(exposed *int) map[string]func(path string) ([]byte, error) {
	report := func(files.Exposure) { *exposed++ }
	return map[string]func(path string) ([]byte, error){
		"ReadSecret":    func(path string) ([]byte, error) { return files.ReadSecret(path, report) },
		"ReadPublic":    files.ReadPublic,
		"ReadConfig":    func(path string) ([]byte, error) { return files.ReadConfig(path, report) },
		"ReadGenerated": files.ReadGenerated,
	}
}

// TestModes checks which modes are refused, and which are reported. Owners are checked in e2e/attack.
func TestModes(t *testing.T) {
	t.Parallel()
	const changed, read, reported = "other users can change it", "other users can read it", "reported"
	for mode, want := range map[fs.FileMode]map[string]string{
		0o600: {}, 0o400: {}, 0o700: {},
		0o640: {"ReadSecret": reported, "ReadConfig": reported, "ReadGenerated": read},
		0o604: {"ReadSecret": reported, "ReadConfig": reported, "ReadGenerated": read},
		0o660: {"ReadSecret": changed, "ReadConfig": reported, "ReadGenerated": changed}, // the group of this process
		0o620: {"ReadSecret": changed, "ReadGenerated": changed},
		0o602: {"ReadSecret": changed, "ReadPublic": changed, "ReadConfig": changed, "ReadGenerated": changed},
	} {
		path, exposed := newFile(t, mode), 0
		for name, read := range readers(&exposed) {
			exposed = 0
			contents, err := read(path)
			switch want := want[name]; want {
			case "", reported:
				if err != nil || string(contents) != content || (exposed == 1) != (want == reported) {
					t.Errorf("%s, mode %v: %q, %v, reported %d times", name, mode, contents, err, exposed)
				}
			default:
				if err == nil || !strings.Contains(err.Error(), want) || contents != nil {
					t.Errorf("%s, mode %v: %q, %v, want %q", name, mode, contents, err, want)
				}
			}
		}
	}
}

// TestLinks checks that links are followed, as Kubernetes mounts secrets through them, but not in
// the place of a generated secret. The target is checked.
func TestLinks(t *testing.T) {
	t.Parallel()
	for mode, ok := range map[fs.FileMode]bool{0o600: true, 0o602: false} {
		link, exposed := filepath.Join(t.TempDir(), "link"), 0
		if err := os.Symlink(newFile(t, mode), link); err != nil {
			t.Fatal(err)
		}
		for name, read := range readers(&exposed) {
			if _, err := read(link); (err == nil) != (ok && name != "ReadGenerated") {
				t.Errorf("%s of a link to a file with mode %v: %v", name, mode, err)
			}
		}
	}
}

// TestIrregular checks that a FIFO is refused without waiting for its writer, as is a directory.
func TestIrregular(t *testing.T) {
	t.Parallel()
	dir, exposed := t.TempDir(), 0
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, read := range readers(&exposed) {
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
	if got, err := files.ReadSecret(fmt.Sprint("/dev/fd/", reader.Fd()), nil); err != nil || string(got) != content {
		t.Errorf("%q, %v", got, err)
	}
}

// TestLimit checks that a file is read up to its limit only.
func TestLimit(t *testing.T) {
	t.Parallel()
	path, exposed := newFile(t, 0o600), 0
	for size, wanted := range map[int]map[string]bool{
		64 << 10:   {"ReadSecret": true, "ReadPublic": true, "ReadConfig": true, "ReadGenerated": true},
		64<<10 + 1: {"ReadPublic": true},
		1 << 20:    {"ReadPublic": true},
		1<<20 + 1:  {},
		1 << 30:    {},
	} {
		if err := os.Truncate(path, int64(size)); err != nil {
			t.Fatal(err)
		}
		for name, read := range readers(&exposed) {
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
			"ReadSecret": func(path string) ([]byte, error) { return files.ReadSecret(path, nil) }, "ReadPublic": files.ReadPublic,
		} {
			if _, err := read(path); err == nil || strings.Contains(err.Error(), path) {
				t.Errorf("%s(%.40q): %v", name, path, err)
			}
		}
	}
}

// TestOnce checks that however often a file is read, it is reported once.
func TestOnce(t *testing.T) {
	t.Parallel()
	n, path := 0, newFile(t, 0o644)
	report := files.Once(func(e files.Exposure) {
		n++
		if text := e.String(); !strings.Contains(text, path) || !strings.Contains(text, "0644") {
			t.Error(text)
		}
	})
	for range 3 {
		if _, err := files.ReadSecret(path, report); err != nil {
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
	path := newFile(t, 0o600)
	for text, want := range map[string]string{"\ufeffa\ufeff": "a\ufeff", "\ufeff\ufeffa": "\ufeffa", "\ufeff": "", "a\ufeff": "a\ufeff"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := files.ReadSecret(path, nil); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}
