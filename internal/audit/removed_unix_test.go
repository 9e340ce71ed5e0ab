//go:build unix

package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/audit"
	"plantstore/models"
)

// TestRemovedFile checks that a removed file is detected before the next write, or after a
// second, and logged. A renamed file stays in use until Reopen.
func TestRemovedFile(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]time.Duration{"while lines come": 0, "while none comes": 2 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			synctest.Test(t, func(t *testing.T) { checkRemovedFile(t, path, idle) })
		})
	}
}

func checkRemovedFile(t *testing.T, path string, idle time.Duration) {
	t.Helper()
	store, log, output := openLogged(t, audit.File(path), &fakeEngine{})
	create := func(id int64) {
		t.Helper()
		if err := store.Create(t.Context(), id, models.Plant{}); err != nil {
			t.Error(err)
		}
	}
	create(1)
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(idle)
	synctest.Wait()
	create(2)
	if got := ids(notes(t, read(t, path+".1"))); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("in the renamed file is noted %v", got)
	}
	if err := os.Remove(path + ".1"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(idle)
	synctest.Wait()
	if _, err := os.Stat(path); idle > 0 && err != nil {
		t.Errorf("after %v there is no new file: %v", idle, err)
	}
	create(3)
	if err := errors.Join(log.Reopen(t.Context()), store.Close()); err != nil {
		t.Error(err)
	}
	if got := ids(notes(t, read(t, path))); !slices.Equal(got, []int64{3}) {
		t.Errorf("in the new file is noted %v", got)
	}
	if strings.Count(output.String(), "level=ERROR") != 1 || !strings.Contains(output.String(), "audit log removed") {
		t.Errorf("the log is %q", output)
	}
}

// TestNamelessFile checks that a file that had no name when it was opened, such as a redirected
// stdout, is not reported as removed.
func TestNamelessFile(t *testing.T) {
	t.Parallel()
	file, err := os.Create(filepath.Join(t.TempDir(), "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	if err := os.Remove(file.Name()); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		store, _, output := openLogged(t, audit.File(fmt.Sprint("/dev/fd/", file.Fd())), &fakeEngine{})
		for id := range int64(3) {
			if err := store.Create(t.Context(), id, models.Plant{}); err != nil {
				t.Error(err)
			}
			time.Sleep(2 * time.Second)
		}
		if err := store.Close(); err != nil {
			t.Error(err)
		}
		if output.Len() > 0 {
			t.Errorf("the log is %s", output)
		}
	})
	text := make([]byte, 1000)
	n, err := file.ReadAt(text, 0)
	if got := ids(notes(t, string(text[:n]))); !slices.Equal(got, []int64{0, 1, 2}) {
		t.Errorf("in the file is noted %v: %v", got, err)
	}
}
