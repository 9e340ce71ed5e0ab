package storage_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"plantstore/storage"
)

// TestCommitHangs checks that a commit that does not end makes the store unready, until it
// does.
func TestCommitHangs(t *testing.T) {
	t.Parallel()
	run(t, func(t *testing.T, e *testEngine) {
		outcome := e.create(t.Context(), 1, "a")
		time.Sleep(90 * time.Second)
		if err := e.store.Ready(); err != nil {
			t.Errorf("a commit of 90 s: %v", err)
		}
		time.Sleep(time.Second)
		if err := e.store.Ready(); !errors.Is(err, storage.ErrCommitHangs) || !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("a commit of 91 s: %v, want %v", err, storage.ErrCommitHangs)
		}
		e.commit(t, succeed, 1)
		if err := <-outcome; err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if err := e.store.Ready(); err != nil {
			t.Errorf("after it has ended: %v", err)
		}
	})
}
