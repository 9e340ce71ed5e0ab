//go:build unix

package bbolt

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plantstore/internal/must"
	"plantstore/models"
	"plantstore/storage"
)

// TestLockOfReplacedFile checks that the lock of a file that was replaced before it was locked
// does not lock the new file.
func TestLockOfReplacedFile(t *testing.T) {
	t.Parallel()
	path := newFile(t, 1)
	file := must.Get(os.Open(path))(t)
	defer func() { _ = file.Close() }()
	if err := lockFile(file, true); err != nil {
		t.Errorf("lockFile: %v", err)
	}
	must.Do(t, os.Rename(newFile(t, 2), path))
	if err := lockFile(file, true); !errors.Is(explain(path, err), storage.ErrLocked) {
		t.Errorf("lockFile of a replaced file: %v, want: %v", err, storage.ErrLocked)
	}
	unlock := must.Get(lock(path))(t)
	if err := unlock(); err != nil {
		t.Error(err)
	}
}

// TestPipes checks that nothing waits for the writer of a named pipe in the place of a database, and that
// a copy does not replace the pipe.
func TestPipes(t *testing.T) {
	t.Parallel()
	path, backup := newPath(t), newFile(t, 1)
	must.Do(t, syscall.Mkfifo(path, 0o600))
	for name, do := range map[string]func() error{
		"MayReplace":       func() error { return MayReplace(path) },
		"Restore":          func() error { _, _, err := Restore(t.Context(), path, backup); return err },
		"open":             func() error { _, err := openTest(storage.Options{}, path); return err },
		"open for reading": func() error { _, err := openTest(storage.Options{ReadOnly: true}, path); return err },
	} {
		if err := do(); err == nil || !strings.HasSuffix(err.Error(), path+" is not a regular file: name another one") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if info, err := os.Lstat(path); err != nil || info.Mode().Type() != os.ModeNamedPipe {
		t.Errorf("the pipe is now %v, %v", info, err)
	}
}

// TestLittleAddressSpace opens a store, and creates a plant, in processes whose address space is limited,
// as by ulimit -v.
func TestLittleAddressSpace(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("the address space of a process is known on Linux")
	}
	path := os.Getenv("LITTLE_ADDRESS_SPACE")
	if path != "" {
		limitAddressSpace(t)
		s := mustOpen(t, path)
		if s.mapped >= 1<<30 {
			t.Errorf("%d MiB are mapped", s.mapped>>20)
		}
		must.Do(t, s.Create(t.Context(), 1, models.Plant{}))
		return
	}
	path = newPath(t)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLittleAddressSpace$")
	child.Env = append(os.Environ(), "LITTLE_ADDRESS_SPACE="+path)
	if output, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, output)
	}
	wantIntact(t, path, 1)
}

// limitAddressSpace leaves this process 1 GiB more than it has.
func limitAddressSpace(t *testing.T) {
	t.Helper()
	statm := must.Get(os.ReadFile("/proc/self/statm"))(t)
	pages := must.Get(strconv.Atoi(strings.Fields(string(statm))[0]))(t)
	limit := uint64(pages*os.Getpagesize() + 1<<30)
	must.Do(t, unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: limit, Max: limit}))
}

// TestRedirectedLink checks that a store stops after a link in the path of the open database leads
// to another place: the next start would not find its plants (C5.26).
func TestRedirectedLink(t *testing.T) {
	t.Parallel()
	for name, database := range map[string]string{"of the directory": "plants.db", "of the file": "."} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			target, other, link := newFile(t, 0), t.TempDir(), newPath(t)
			if database != "." {
				target = filepath.Dir(target)
			}
			must.Do(t, os.Symlink(target, link))
			store := must.Get(OpenFile(filepath.Join(link, database), storage.Options{}))(t)
			must.Do(t, store.Create(t.Context(), 1, models.Plant{Name: "Ivy"}))
			must.Do(t, os.Remove(link))
			must.Do(t, os.Symlink(other, link))
			<-store.Stopped()
			if err := store.Create(t.Context(), 2, models.Plant{Name: "Ivy"}); !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Create: %v", err)
			}
			_ = store.Close() // it may fail: the database was replaced
		})
	}
}
