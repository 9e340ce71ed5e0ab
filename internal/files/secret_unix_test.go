//go:build unix

package files_test

import (
	"errors"
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

// withMode writes a file with that mode.
func withMode(mode fs.FileMode) func(path string) error {
	return func(path string) error {
		return errors.Join(os.WriteFile(path, []byte(content), 0o600), os.Chmod(path, mode))
	}
}

// linkTo writes a file with that mode, and a link to it.
func linkTo(mode fs.FileMode) func(path string) error {
	return func(path string) error {
		return errors.Join(withMode(mode)(path+" target"), os.Symlink(path+" target", path))
	}
}

// withText writes a file with that text.
func withText(text string) func(path string) error {
	return func(path string) error { return os.WriteFile(path, []byte(text), 0o600) }
}

// withSize writes a file of so many bytes.
func withSize(size int64) func(path string) error {
	return func(path string) error { return errors.Join(withMode(0o600)(path), os.Truncate(path, size)) }
}

// TestReadFiles checks which files are read, and why others are refused. Links are followed, as Kubernetes mounts
// secrets through them, but not in the place of a generated secret or of .env; the target is checked. Owners are checked in e2e/attack.
func TestReadFiles(t *testing.T) {
	t.Parallel()
	type wants struct{ secret, public, config, generated string } // pieces of the errors
	const (
		changed, exposed, link = "other users can change it", "other users can read it", "is a symbolic link"
		irregular, long        = ": it is not a regular file", ": the file is too long"
		utf16LE, utf16BE       = ": the file is in UTF-16LE, ", ": the file is in UTF-16BE, "
		named                  = "missing: no such file or directory"
	)
	for name, test := range map[string]struct {
		prepare func(path string) error
		wants   wants
	}{
		"mode 0600":         {withMode(0o600), wants{}},
		"mode 0400":         {withMode(0o400), wants{}},
		"mode 0700":         {withMode(0o700), wants{}},
		"mode 0640":         {withMode(0o640), wants{}}, // the group of this process
		"mode 0604":         {withMode(0o604), wants{generated: exposed}},
		"mode 0660":         {withMode(0o660), wants{}},
		"mode 0602":         {withMode(0o602), wants{changed, changed, changed, changed}},
		"link to mode 0600": {linkTo(0o600), wants{config: link, generated: link}},
		"link to mode 0602": {linkTo(0o602), wants{changed, changed, link, link}},
		"FIFO, not awaited": {func(path string) error { return syscall.Mkfifo(path, 0o600) }, wants{irregular, irregular, irregular, irregular}},
		"directory":         {func(path string) error { return os.Mkdir(path, 0o700) }, wants{irregular, irregular, irregular, irregular}},
		"64 KiB":            {withSize(64 << 10), wants{}},
		"64 KiB and a byte": {withSize(64<<10 + 1), wants{secret: long, config: long, generated: long}},
		"1 MiB":             {withSize(1 << 20), wants{secret: long, config: long, generated: long}},
		"1 MiB and a byte":  {withSize(1<<20 + 1), wants{long, long, long, long}},
		"of PowerShell 5":   {withText("\xff\xfea\x00"), wants{utf16LE, utf16LE, utf16LE, utf16LE}},
		"big-endian":        {withText("\xfe\xff\x00a"), wants{utf16BE, utf16BE, utf16BE, utf16BE}},
		"without a mark":    {withText("A\x00=\x00"), wants{utf16LE, utf16LE, utf16LE, utf16LE}},
		"without, be":       {withText("\x00A\x00="), wants{utf16BE, utf16BE, utf16BE, utf16BE}},
		"a zero":            {withText(content + "\x00\x00"), wants{}},
		"missing":           {func(string) error { return nil }, wants{named, named, named, named}},
	} {
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, test.prepare(path))
		for _, reader := range []struct {
			name, want string
			read       func(path string) ([]byte, error)
		}{
			{"ReadSecret", test.wants.secret, files.ReadSecret},
			{"ReadPublic", test.wants.public, files.ReadPublic},
			{"ReadConfig", test.wants.config, files.ReadConfig},
			{"ReadGenerated", test.wants.generated, files.ReadGenerated},
		} {
			got, err := reader.read(path)
			if reader.want == "" && (err != nil || !strings.HasPrefix(string(got), content)) ||
				reader.want != "" && (err == nil || !strings.Contains(err.Error(), reader.want)) {
				t.Errorf("%s, %s: %.20q, %v, want %q", reader.name, name, got, err, reader.want)
			}
		}
	}
}

// TestByteOrderMark checks that a byte order mark at the beginning is not part of a file.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	for text, want := range map[string]string{"\ufeffa\ufeff": "a\ufeff", "\ufeff\ufeffa": "\ufeffa", "\ufeff": "", "a\ufeff": "a\ufeff"} {
		must.Do(t, os.WriteFile(path, []byte(text), 0o600))
		if got, err := files.ReadSecret(path); string(got) != want || err != nil {
			t.Errorf("%q: %q, %v, want %q", text, got, err, want)
		}
	}
}

// TestSecretAsName checks that the error of a missing file has its name, unless that may be a secret.
func TestSecretAsName(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, shown := range map[string]bool{
		"hunter2": false, "AAAA/BBBB+CCCC=": false, "https://me:hunter2@h/key": false,
		"private.key": true, "./secret": false, "../secret": true, "/etc/none": true, "none/private.key": false,
	} {
		if _, err := files.ReadSecret(name); err == nil || strings.Contains(err.Error(), name) != shown {
			t.Errorf("%s: %v, want it shown: %t", name, err, shown)
		}
	}
}
