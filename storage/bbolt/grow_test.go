package bbolt

import (
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
)

// TestGrowDuringSnapshot lets transactions run twice while an older one is being read, one of them
// much larger than the file: the database is intact, and the older plants are still readable.
func TestGrowDuringSnapshot(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	createPlants(t, s, 1000, 500, 100)
	must.Do(t, s.db.View(func(tx *bolt.Tx) error {
		for first := int64(2000); first < 2500; first += 50 {
			createPlants(t, s, first, 50, 100)
		}
		createPlants(t, s, 0, 200, 20_000)
		if n := tx.Bucket([]byte(plantsBucket)).Stats().KeyN; n != 500 {
			t.Errorf("the older transaction has %d plants, want 500", n)
		}
		return nil
	}))
	must.Do(t, s.Close())
	wantIntact(t, path, 1200)
}
