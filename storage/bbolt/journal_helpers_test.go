package bbolt

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt/journal"
)

// withJournal are the options of a store with the smallest journal.
func withJournal() storage.Options { return storage.Options{JournalBytes: journal.MinSize} }

// openJournalled opens the store at path with a journal, and leaves it open.
func openJournalled(t testing.TB, path string) *testStore {
	t.Helper()
	s, err := openStore(withJournal(), path)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// createSome creates n plants with random ids, and adds them to plants.
func createSome(t testing.TB, s *testStore, random *rand.Rand, plants map[int64]models.Plant, n int) {
	t.Helper()
	records := make([]storage.Record, n)
	for i := range records {
		id := int64(random.Uint64()) //nolint:gosec // any id will do
		records[i] = storage.Record{ID: id, Plant: models.Plant{Name: fmt.Sprint(id)}}
		plants[id] = records[i].Plant
	}
	for _, err := range s.CreateAll(t.Context(), records) {
		if err != nil {
			t.Fatalf("CreateAll: %v", err)
		}
	}
}

// copyStore copies the database at path and its files to a new directory, as a killed
// process or a careful operator would leave them.
func copyStore(t testing.TB, path string, suffixes ...string) (copied string) {
	t.Helper()
	copied = newPath(t)
	for _, suffix := range suffixes {
		b, err := os.ReadFile(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+suffix, b, filePerm); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// killed is copyStore of all files.
func killed(t testing.TB, path string) string {
	t.Helper()
	return copyStore(t, path, "", journalSuffix)
}

// wantExactly checks that the store at path has these plants, and no others, when it
// is opened for reading, and for writing with and without a journal, and is intact and
// without a journal after that.
func wantExactly(t testing.TB, path string, want map[int64]models.Plant) {
	t.Helper()
	for _, options := range []storage.Options{{ReadOnly: true}, withJournal(), {}} {
		s, err := openStore(options, path)
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		got, last := map[int64]models.Plant{}, int64(math.MinInt64)
		for r, err := range s.List(t.Context(), math.MinInt64) {
			if err != nil || len(got) > 0 && r.ID <= last {
				t.Fatalf("List: id %d after %d, %v", r.ID, last, err)
			}
			got[r.ID], last = r.Plant, r.ID
		}
		if !maps.EqualFunc(got, want, models.Plant.Equal) {
			t.Fatalf("%+v: %d plants, want %d", options, len(got), len(want))
		}
		count, err := s.Count(t.Context())
		if err = errors.Join(err, s.Close()); err != nil || count != int64(len(want)) {
			t.Fatalf("%+v: Count %d, %v, want %d plants", options, count, err, len(want))
		}
		wantIntact(t, path, count)
	}
	if exists(JournalPath(path)) {
		t.Error("the journal is still there after Close")
	}
	db, err := bolt.Open(path, filePerm, &bolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.View(func(tx *bolt.Tx) error {
		if schema := tx.Bucket([]byte(metaBucket)).Get([]byte(schemaKey)); string(schema) != "1" {
			t.Errorf("schema version %s: an earlier version does not open it", schema)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
