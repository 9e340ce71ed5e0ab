package bbolt

import (
	"errors"
	"math"
	"os"
	"runtime"
	"testing"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// TestJournalChanged checks that the store stops when its journal was overwritten, instead of
// moving what is in it to the tree.
func TestJournalChanged(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows the journal is copied, not mapped")
	}
	path := newPath(t)
	s := openJournalled(t, path)
	for id := range int64(2) {
		if err := s.Create(t.Context(), id, models.Plant{Name: "fern"}); err != nil {
			t.Fatal(err)
		}
	}
	overwrite(t, JournalPath(path), journal.Block+40, garbage(1))
	s.journal.Freeze()
	if fatal, ok := errors.AsType[*storage.FatalError](s.checkpoint(nil)); !ok || !errors.Is(fatal.Cause, journal.ErrCorrupt) {
		t.Errorf("checkpoint: %+v", fatal)
	}
	if err := s.Create(t.Context(), 2, models.Plant{Name: "oak"}); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("Create after that: %v", err)
	}
}

// TestJournalCut checks that pending plants that cannot be read any more are errors, and that
// the store stops.
func TestJournalCut(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("on Windows the journal is copied, not mapped")
	}
	path := newPath(t)
	s := openJournalled(t, path)
	if err := s.Create(t.Context(), 0, models.Plant{Name: "fern"}); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(JournalPath(path), 0); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Get(t.Context(), 0); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("Get: %v", err)
	}
	for r, err := range s.List(t.Context(), math.MinInt64) {
		if !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("List: %+v, %v", r, err)
		}
	}
	if report, err := s.Check(t.Context(), nil); err != nil || report.Intact() {
		t.Errorf("Check: %+v, %v", report, err)
	}
	s.journal.Freeze()
	if err := s.checkpoint(nil); !errors.As(err, new(*storage.FatalError)) {
		t.Errorf("checkpoint: %v", err)
	}
}

// TestJournalIsTakenAway checks that a store stops if its journal is removed.
func TestJournalIsTakenAway(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(path string) error{
		"removed": os.Remove,
		"cut":     func(path string) error { return os.Truncate(path, 8192) },
		"moved":   func(path string) error { return os.Rename(path, path+".old") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := newPath(t)
			s := openJournalled(t, path)
			if err := take(JournalPath(path)); err != nil {
				t.Fatal(err)
			}
			if err := s.Create(t.Context(), 1, models.Plant{}); !errors.Is(err, storage.ErrUnknown) && !errors.Is(err, storage.ErrUnavailable) {
				t.Errorf("Create: %v", err)
			}
			<-s.Stopped()
		})
	}
}
