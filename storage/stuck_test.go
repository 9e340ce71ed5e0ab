package storage_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// A commit that does not end makes the store unready, until it does.
func TestStuckCommit(t *testing.T) {
	t.Parallel()
	run(t, storage.Limits{}, func(t *testing.T, e *engine) {
		outcome := e.create(t.Context(), 1, "a")
		time.Sleep(90 * time.Second)
		if err := e.group.Ready(); err != nil {
			t.Errorf("a commit of 90 s: %v", err)
		}
		time.Sleep(time.Second)
		if err := e.group.Ready(); !errors.Is(err, storage.ErrStuck) || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("a commit of 91 s: %v, want %v", err, storage.ErrStuck)
		}
		e.commit(t, succeed, 1)
		if err := <-outcome; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := e.group.Ready(); err != nil {
			t.Errorf("after it has ended: %v", err)
		}
	})
}
