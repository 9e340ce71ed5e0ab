package bbolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"plantstore/models"
	"plantstore/storage"
)

// TestFailingWrites makes bbolt's file read-only: a commit fails without corruption. The store
// stops, and works when it is opened again.
func TestFailingWrites(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	s := mustOpen(t, path)
	fd := int(s.file.Fd())
	saved, err := unix.Dup(fd)
	if err != nil {
		t.Fatal(err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Dup3(int(readOnly.Fd()), fd, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	for id := range int64(3) {
		err := s.Create(t.Context(), 100+id, models.Plant{Name: "a"})
		if id == 0 && !errors.Is(err, syscall.EBADF) && !errors.Is(err, syscall.EINVAL) || errors.Is(err, storage.ErrUnknown) {
			t.Errorf("Create: %v, want the error of the write alone", err)
		}
		if id > 0 && !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("Create: %v, want: %v", err, storage.ErrUnavailable)
		}
		if _, err := s.Get(t.Context(), 100+id); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("Get: %v, want: %v", err, storage.ErrNotFound)
		}
	}
	if err := s.Ready(); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Ready: %v", err)
	}
	if err := unix.Dup3(saved, fd, unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	_ = unix.Close(saved)
	_ = readOnly.Close()

	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
	s = mustOpen(t, path)
	if err := s.Create(t.Context(), 101, models.Plant{Name: "b"}); err != nil {
		t.Errorf("Create: %v", err)
	}
	if plant, err := s.Get(t.Context(), 101); err != nil || plant.Name != "b" {
		t.Errorf("Get = %v, %v", plant, err)
	}
}

// TestVanishedHandle closes bbolt's file: the meta pages cannot be read.
func TestVanishedHandle(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newFile(t, 10))
	_ = s.file.Close()
	if err := s.Create(t.Context(), 100, models.Plant{}); !errors.Is(err, storage.ErrUnknown) {
		t.Errorf("Create: %v, want: %v", err, storage.ErrUnknown)
	}
	if err := s.Create(t.Context(), 101, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Create: %v, want: %v", err, storage.ErrUnavailable)
	}
}

// boundEnv limits the size of files of the test process to that many bytes, as on a full
// disk; pathEnv names its store.
const (
	boundEnv = "BBOLT_TEST_BOUND"
	pathEnv  = "BBOLT_TEST_PATH"
)

// inBoundProcess runs the calling test again in a process with the limit and returns its output.
// In that process it returns false.
func inBoundProcess(t *testing.T, path, bound string) (out string, parent bool) {
	t.Helper()
	if os.Getenv(boundEnv) != "" {
		return "", false
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v") //nolint:gosec // this test itself
	cmd.Env = append(os.Environ(), boundEnv+"="+bound, pathEnv+"="+path)
	b, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
	return string(b), true
}

// applyBound sets the limit for this process.
func applyBound(t *testing.T) {
	t.Helper()
	bytes, err := strconv.ParseUint(os.Getenv(boundEnv), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: bytes, Max: unix.RLIM_INFINITY}); err != nil {
		t.Fatal(err)
	}
}

// TestNoSpaceToCreate creates a file without space: no incomplete file remains.
func TestNoSpaceToCreate(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	if _, parent := inBoundProcess(t, path, "10000"); parent {
		if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 0 {
			t.Errorf("the directory holds %v, %v, want no files", entries, err)
		}
		mustOpen(t, path)
		return
	}
	path = os.Getenv(pathEnv)
	applyBound(t)
	if _, err := openStore(storage.Options{}, path); !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), "create database "+path+": ") {
		t.Errorf("Open: %v, want: %v", err, syscall.EFBIG)
	}
}

// TestNoSpaceToCompact checks that the error for a copy without space names the command.
func TestNoSpaceToCompact(t *testing.T) {
	t.Parallel()
	if _, parent := inBoundProcess(t, "", "10000"); parent {
		return
	}
	path := newPath(t)
	add(t, path, 0, 200)
	applyBound(t)
	if _, _, err := Compact(t.Context(), path); !errors.Is(err, syscall.EFBIG) || !strings.HasPrefix(err.Error(), "compact: ") {
		t.Errorf("Compact: %v, want: %v", err, syscall.EFBIG)
	}
	wantPlants(t, path, 200)
}

// TestNoSpace reaches a real limit: the plants that fit are kept, the others refused, and the
// store continues.
func TestNoSpace(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	out, parent := inBoundProcess(t, path, "262144")
	if !parent {
		fillUp(t, os.Getenv(pathEnv))
		return
	}
	var stored, n int64
	_, line, _ := strings.Cut(out, "\nstored: ")
	if _, err := fmt.Sscan(line, &stored); err != nil || stored == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	s := mustOpen(t, path) // without the bound
	for record, err := range s.List(t.Context(), 0) {
		if err != nil || record.ID != n {
			t.Fatalf("List: %d, %v, want %d", record.ID, err, n)
		}
		n++
	}
	if n != stored {
		t.Errorf("%d plants are stored, want %d", n, stored)
	}
	if err := s.Create(t.Context(), n, big()); err != nil {
		t.Errorf("Create with space: %v", err)
	}
}

// big is a plant that takes many pages.
func big() models.Plant { return models.Plant{Name: strings.Repeat("x", 20_000)} }

// fillUp creates plants until there is no space, and returns their number.
func fillUp(t *testing.T, path string) {
	t.Helper()
	s := mustOpen(t, path)
	applyBound(t)
	id := int64(0)
	for id < 100 && s.Create(t.Context(), id, big()) == nil {
		id++
	}
	for range 3 { // it continues to refuse large plants
		if err := s.Create(t.Context(), id, big()); !errors.Is(err, storage.ErrNoSpace) {
			t.Errorf("Create: %v, want: %v", err, storage.ErrNoSpace)
		}
	}
	if err := s.Ready(); !errors.Is(err, storage.ErrNoSpace) {
		t.Errorf("Ready: %v, want: %v", err, storage.ErrNoSpace)
	}
	fmt.Fprintf(os.Stdout, "\nstored: %d\n", id)
}

// TestOpenReadOnlyDirectory opens a store in a directory in which even root may not create
// files.
func TestOpenReadOnlyDirectory(t *testing.T) {
	t.Parallel()
	const path = "/sys/plants.db"
	if _, err := openStore(storage.Options{}, path); !errors.Is(err, fs.ErrPermission) || !strings.HasPrefix(err.Error(), "create database "+path+": ") {
		t.Errorf("Open: %v, want: %v", err, fs.ErrPermission)
	}
}
