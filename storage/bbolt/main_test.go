package bbolt

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"
	"go.uber.org/goleak"

	"plantstore/models"
	"plantstore/storage"
)

// childEnv makes the test process a child that serves the store at that path.
const childEnv = "BBOLT_TEST_CHILD"

// batchPlants is the most plants in a batch, see [storage.Limits].
const batchPlants = 16_384

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		child(path)
		return
	}
	goleak.VerifyTestMain(m)
}

// child opens a store, prints the result, and keeps the store open until its input ends.
func child(path string) {
	s, err := openStore(storage.Options{}, path)
	if err != nil {
		fmt.Fprintln(os.Stdout, err)
		return
	}
	fmt.Fprintln(os.Stdout, "open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Close(); err != nil {
		fmt.Fprintln(os.Stdout, err)
	}
}

// startChild starts a child. Closing hold makes it exit.
func startChild(t *testing.T, path string) (out io.Reader, hold io.Closer) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+path)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Wait()
	})
	return stdout, stdin
}

// newPath returns a path in a new directory.
func newPath(t testing.TB) string { return filepath.Join(t.TempDir(), "plants.db") }

// A testStore is a store with the methods of its engine.
type testStore struct {
	*storage.Store
	testEngine
}

// A testEngine hides the methods of the engine that the store has, too.
type testEngine struct{ *Engine }

// openStore opens the store at path.
func openStore(options storage.Options, path string) (*testStore, error) {
	e, err := OpenEngine(path, options)
	if err != nil {
		return nil, err
	}
	return &testStore{storage.New(e, storage.Limits{}, options), testEngine{e}}, nil
}

// mustOpen opens the store at path and closes it when the test ends.
func mustOpen(t testing.TB, path string) *testStore {
	t.Helper()
	s, err := openStore(storage.Options{}, path)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// newFile creates a store with n plants, the ids from 0 on, and closes it.
func newFile(t testing.TB, n int) (path string) {
	t.Helper()
	path = newPath(t)
	s := mustOpen(t, path)
	for id := range n {
		if err := s.Create(t.Context(), int64(id), models.Plant{Name: fmt.Sprint(id)}); err != nil {
			t.Fatalf("Create: %v", err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatalf("Close: %v", err)
	}
	return path
}

// edit changes the file of a closed store.
func edit(t testing.TB, path string, change func(tx *bolt.Tx) error) {
	t.Helper()
	db, err := bolt.Open(path, filePerm, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Update(change); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// overwrite writes b into the file at offset.
func overwrite(t testing.TB, path string, offset int64, b []byte) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(b, offset); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantLine checks that err is one line that begins with the file's name and
// contains want.
func wantLine(t *testing.T, path string, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("nil, want: %s", want)
	}
	msg := err.Error()
	if !strings.HasPrefix(msg, "database "+path+" ") || !strings.Contains(msg, want) || strings.Contains(msg, "\n") {
		t.Errorf("%q, want one line about the file: %q", msg, want)
	}
}

// garbage returns bytes that are not in any bbolt file.
func garbage(n int) []byte { return bytes.Repeat([]byte{0xa5}, n) }
