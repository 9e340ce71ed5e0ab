package bbolt

import (
	"math/rand/v2"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// TestGrowDuringSnapshot lets transactions run twice while an older one is being read, one of them
// much larger than the file: the database is intact, and the older plants are still readable.
func TestGrowDuringSnapshot(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	plants, random := map[int64]models.Plant{}, rand.New(rand.NewPCG(3, 4))
	createSome(t, s, random, plants, 500)
	older := len(plants)
	err := s.db.View(func(tx *bolt.Tx) error {
		createSome(t, s, random, plants, 500)
		big := []storage.Record{}
		for id := range int64(200) {
			big = append(big, storage.Record{ID: id, Plant: models.Plant{Name: strings.Repeat("x", 20_000)}})
		}
		for _, err := range s.CreateAll(t.Context(), big) {
			if err != nil {
				t.Errorf("CreateAll: %v", err)
			}
		}
		if n := tx.Bucket([]byte(plantsBucket)).Stats().KeyN; n != older {
			t.Errorf("the older transaction has %d plants, want %d", n, older)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	wantIntact(t, path, int64(len(plants)+200))
}
