package bbolt

import (
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// TestJournalRefused checks that a database and a journal that do not belong together are
// refused, and stay as they are.
func TestJournalRefused(t *testing.T) {
	t.Parallel()
	path, plants, random := newPath(t), map[int64]models.Plant{}, rand.New(rand.NewPCG(3, 3)) //nolint:gosec // no secret
	s, err := OpenEngine(path, withJournal())
	if err != nil {
		t.Fatal(err)
	}
	store := &testStore{storage.New(struct{ storage.Engine }{s}, storage.Limits{}, storage.Options{}), testEngine{s}} // without background checkpoints
	t.Cleanup(func() { _ = store.Close() })
	createSome(t, store, random, plants, 50)
	early := killed(t, path)
	createSome(t, store, random, plants, 50)
	if err := s.checkpointAll(); err != nil {
		t.Fatal(err)
	}
	createSome(t, store, random, plants, 50)
	late := killed(t, path)
	other := newPath(t)
	openJournalled(t, other)
	foreign := killed(t, other)
	clean := newFile(t, 10)
	for name, tt := range map[string]struct {
		database, journal string
		corrupt           func(journal []byte) []byte
		want              string
	}{
		"missing":                    {late, "", nil, "which is missing"},
		"of another database":        {late, foreign, nil, "belongs to another database"},
		"older than the database":    {late, early, nil, "different moments"},
		"cut":                        {late, late, func(b []byte) []byte { return b[:len(b)-1] }, "cut short"},
		"empty":                      {late, late, func([]byte) []byte { return nil }, "cut short"},
		"corrupt header":             {late, late, func(b []byte) []byte { b[30] ^= 1; return b }, "corrupt"},
		"next to a clean database":   {clean, late, nil, "move the journal away"},
		"garbage, database is clean": {clean, late, func(b []byte) []byte { return b[100:] }, "move the journal away"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := copyStore(t, tt.database, "")
			if tt.journal != "" {
				b, err := os.ReadFile(JournalPath(tt.journal))
				if err != nil {
					t.Fatal(err)
				}
				if tt.corrupt != nil {
					b = tt.corrupt(b)
				}
				if err := os.WriteFile(JournalPath(copied), b, filePerm); err != nil {
					t.Fatal(err)
				}
			}
			before := snapshot(t, copied)
			for _, options := range []storage.Options{{ReadOnly: true}, withJournal(), {}} {
				if _, err := OpenEngine(copied, options); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "\n") {
					t.Errorf("%+v: %v, want %q", options, err, tt.want)
				}
			}
			if string(snapshot(t, copied)) != string(before) {
				t.Error("the database was changed")
			}
		})
	}
	t.Run("newer than the database", func(t *testing.T) {
		t.Parallel()
		copied := copyStore(t, early, "")
		b, err := os.ReadFile(JournalPath(late))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(JournalPath(copied), b, filePerm); err != nil {
			t.Fatal(err)
		}
		wantExactly(t, copied, plants) // the journal still has all of them
	})
}

// TestJournalLeftOver checks that a journal left by a process that died while it created or
// removed it does not prevent a start.
func TestJournalLeftOver(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := openJournalled(t, path)
	plants := map[int64]models.Plant{}
	createSome(t, s, rand.New(rand.NewPCG(4, 4)), plants, 20) //nolint:gosec // no secret
	left, err := os.ReadFile(JournalPath(path))
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for name, put := range map[string]func(path string) error{
		"when it was removed": func(path string) error { return os.WriteFile(path, left, filePerm) },
		"when it was created": func(path string) error {
			file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, filePerm)
			if err != nil {
				return err
			}
			_, err = journal.Format(file, journal.MinSize)
			return errors.Join(err, file.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			copied := copyStore(t, path, "")
			if err := put(JournalPath(copied)); err != nil {
				t.Fatal(err)
			}
			wantExactly(t, copied, plants)
		})
	}
}

// TestReadDuringCheckpoints checks that every read returns each plant that was created before
// it began, once, while checkpoints move plants to the tree.
func TestReadDuringCheckpoints(t *testing.T) {
	t.Parallel()
	s := openJournalled(t, newPath(t))
	var created sync.Map
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	ctx := t.Context()
	for w := range int64(4) {
		writers.Go(func() {
			random := rand.New(rand.NewPCG(5, uint64(w))) //nolint:gosec // no secret
			for range 400 {
				id := int64(random.Uint64())&^3 | w //nolint:gosec // any id will do
				if err := s.Create(ctx, id, models.Plant{Name: strings.Repeat("x", random.IntN(500))}); err != nil {
					t.Error(err)
					return
				}
				created.Store(id, true)
				if _, err := s.Get(ctx, id); err != nil {
					t.Errorf("Get %d: %v", id, err)
				}
			}
		})
	}
	for range 2 {
		readers.Go(func() {
			for ended := false; !ended; {
				select {
				case <-done:
					ended = true
				default:
				}
				before := map[int64]bool{}
				created.Range(func(id, _ any) bool { before[id.(int64)] = true; return true }) //nolint:forcetypeassert // ids alone
				last, first := int64(0), true
				for r, err := range s.List(ctx, math.MinInt64) {
					if err != nil || !first && r.ID <= last {
						t.Errorf("List: id %d after %d, %v", r.ID, last, err)
						return
					}
					delete(before, r.ID)
					last, first = r.ID, false
				}
				if len(before) > 0 {
					t.Errorf("List lacks %d plants that were created before it began", len(before))
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	if s.FileStats().Journal.Checkpoints == 0 {
		t.Error("there was no checkpoint")
	}
}

// TestJournalWithoutDatabase checks that neither an empty database nor a backup takes the place
// of a missing one while its journal may have plants.
func TestJournalWithoutDatabase(t *testing.T) {
	t.Parallel()
	path, backup := newPath(t), backUp(t, newFile(t, 1))
	s := openJournalled(t, path)
	if err := s.Create(t.Context(), 1, models.Plant{Name: "fern"}); err != nil {
		t.Fatal(err)
	}
	path = killed(t, path)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, readOnly := range []bool{false, true} {
		_, err := openStore(storage.Options{ReadOnly: readOnly}, path)
		wantLine(t, path, err, "is missing, although its journal "+JournalPath(path)+" is there: put the database back, "+
			"or, to restore a backup or to start with an empty store, move "+JournalPath(path)+" away")
	}
	if exists(path) {
		t.Error("a database was made")
	}
	if _, _, err := Restore(t.Context(), path, backup); err == nil || !strings.Contains(err.Error(), "put the database back") {
		t.Errorf("Restore: %v", err)
	}
	if err := os.Remove(JournalPath(path)); err != nil { // the remedy
		t.Fatal(err)
	}
	if _, _, err := Restore(t.Context(), path, backup); err != nil {
		t.Errorf("Restore without it: %v", err)
	}
}

// TestListMerges lists pending plants between those in the tree, also around a corrupt one.
func TestListMerges(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	if err := errors.Join(s.Commit(batchOf(10, 20, 30)), s.Close()); err != nil {
		t.Fatal(err)
	}
	edit(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte(plantsBucket)).Put(keyOf(20), []byte("corrupt")) })
	e, err := OpenEngine(path, withJournal())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = e.Close() }()
	if err := e.Commit(batchOf(5, 15, 25, 35)); err != nil {
		t.Fatal(err)
	}
	var got []int64
	for r, err := range e.List(t.Context(), 6) {
		if errors.Is(err, storage.ErrCorrupt) != (r.ID == 20) {
			t.Errorf("id %d: %v", r.ID, err)
		}
		got = append(got, r.ID)
	}
	if want := []int64{10, 15, 20, 25, 30, 35}; !slices.Equal(got, want) {
		t.Errorf("%d, want %d", got, want)
	}
}
