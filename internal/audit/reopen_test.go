package audit_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/internal/audit"
	"plantstore/models"
	"plantstore/storage"
)

// inTurn returns a function that opens each of targets once, and then fails.
func inTurn(targets ...audit.Target) func() (audit.Target, error) {
	return func() (audit.Target, error) {
		if len(targets) == 0 {
			return nil, os.ErrPermission
		}
		next := targets[0]
		targets = targets[1:]
		return next, nil
	}
}

// TestReopen checks that a file is rotated by renaming it and calling Reopen: each line is in
// exactly one of the files.
func TestReopen(t *testing.T) {
	t.Parallel()
	const writers, each, rotations = 8, 300, 20
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	log, err := audit.Open(audit.File(path), silent())
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(&fakeEngine{}, log)
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for n := range each {
				if err := store.Create(t.Context(), int64(w*each+n), models.Plant{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	names := []string{path}
	for n := range rotations {
		names = append(names, fmt.Sprint(path, ".", n))
		if err := errors.Join(os.Rename(path, names[n+1]), log.Reopen(t.Context())); err != nil {
			t.Error(err)
		}
	}
	all.Wait()
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	seen := make(map[int64]int)
	for _, name := range names {
		for _, id := range ids(notes(t, read(t, name))) {
			seen[id]++
		}
	}
	for id := range int64(writers * each) {
		if seen[id] != 1 {
			t.Errorf("plant %d is noted %d times", id, seen[id])
		}
	}
	if err := log.Reopen(t.Context()); err != nil {
		t.Errorf("Reopen after the end: %v", err)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReopenAfterFailedClose checks that if the old target cannot be closed, the new one is
// used, and the log names the old one.
func TestReopenAfterFailedClose(t *testing.T) {
	t.Parallel()
	old, next := newDisk(), newDisk()
	old.close = errors.New("broken")
	store, log, output := openLogged(t, inTurn(old, next), &fakeEngine{})
	if err := log.Reopen(t.Context()); err != nil {
		t.Errorf("Reopen: %v", err)
	}
	if err := errors.Join(store.Create(t.Context(), 1, models.Plant{}), store.Close()); err != nil {
		t.Error(err)
	}
	if got := ids(notes(t, next.String())); !slices.Equal(got, []int64{1}) || old.String() != "" {
		t.Errorf("in the new target is noted %v, in the old one %q", got, old)
	}
	if !strings.Contains(output.String(), "previous audit log not closed") || !strings.Contains(output.String(), "cause=broken") {
		t.Errorf("the log is %s", output)
	}
}

// TestReopenTorn checks that a line that is partially in the old target is complete in the new
// one.
func TestReopenTorn(t *testing.T) {
	t.Parallel()
	first, second := newDisk(), newDisk()
	first.space, first.fault = 10, syscall.ENOSPC
	store, log, _ := openLogged(t, inTurn(first, second), &fakeEngine{})
	_ = store.Create(t.Context(), 1, models.Plant{})
	if err := log.Reopen(t.Context()); err != nil {
		t.Error(err)
	}
	if err := log.Reopen(t.Context()); !errors.Is(err, os.ErrPermission) {
		t.Errorf("Reopen of a target that cannot be opened: %v", err)
	}
	if err := store.Create(t.Context(), 2, models.Plant{}); err != nil {
		t.Errorf("Create afterwards: %v", err)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
	if got := ids(notes(t, second.String())); !slices.Equal(got, []int64{1, 2}) || !first.closed {
		t.Errorf("noted in the new one: %v; the old one is closed: %t", got, first.closed)
	}
}

// TestReopenWritesBefore checks that lines appended before Reopen are in the old target, even
// if they were not written yet.
func TestReopenWritesBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { // so that no interval passes
		old, next := newDisk(), newDisk()
		old.space, old.fault = 10, syscall.ENOSPC
		store, log, _ := openLogged(t, inTurn(old, next), &fakeEngine{})
		_ = store.Create(t.Context(), 1, models.Plant{})
		old.set(-1, nil)
		if err := errors.Join(log.Reopen(t.Context()), store.Close()); err != nil {
			t.Error(err)
		}
		if got := ids(notes(t, old.String())); !slices.Equal(got, []int64{1}) || next.String() != "" {
			t.Errorf("noted in the old one: %v, in the new one: %q", got, next)
		}
	})
}

// TestRemovedTarget checks that while a removed target cannot be replaced, creates are refused.
// No line is missing from the next target.
func TestRemovedTarget(t *testing.T) {
	t.Parallel()
	for _, when := range []string{"while no line comes", "while one comes", "in the middle of one"} {
		t.Run(when, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) { checkRemovedTarget(t, when) })
		})
	}
}

func checkRemovedTarget(t *testing.T, when string) {
	t.Helper()
	first, second := newDisk(), newDisk()
	var may atomic.Bool
	first.fault = syscall.EIO
	targets := inTurn(first, second)
	log, err := audit.Open(func() (audit.Target, error) {
		if first.Removed() && !may.Load() {
			return nil, os.ErrPermission
		}
		return targets()
	}, silent())
	if err != nil {
		t.Fatal(err)
	}
	store := newStore(&fakeEngine{}, log)
	var want []int64
	if when == "in the middle of one" {
		first.set(10, nil)
		want = append(want, 1)
	}
	_ = store.Create(t.Context(), 1, models.Plant{})
	first.remove()
	if when == "while one comes" {
		if err := store.Create(t.Context(), 2, models.Plant{}); !errors.Is(err, storage.ErrUnrecorded) {
			t.Errorf("Create when the target is gone: %v", err)
		}
		want = append(want, 2)
	}
	time.Sleep(1500 * time.Millisecond)
	for range 2 { // a sync of a removed file has no effect
		if err := store.Create(t.Context(), 3, models.Plant{}); !errors.Is(err, storage.ErrUnavailable) || store.Ready() == nil {
			t.Errorf("Create without a target: %v; Ready: %v", err, store.Ready())
		}
		time.Sleep(2 * time.Second)
	}
	may.Store(true)
	time.Sleep(2 * time.Second)
	if err := errors.Join(store.Ready(), store.Create(t.Context(), 4, models.Plant{}), store.Close()); err != nil {
		t.Errorf("with a new target: %v", err)
	}
	if got := ids(notes(t, second.String())); !slices.Equal(got, append(want, 4)) || !first.closed {
		t.Errorf("noted in the new one: %v; the old one is closed: %t", got, first.closed)
	}
}
