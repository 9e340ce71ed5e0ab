package bbolt

import (
	"math/rand/v2"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

func TestGrowStep(t *testing.T) {
	t.Parallel()
	const kib, mib = 1 << 10, 1 << 20
	for _, row := range []struct{ least, allocated, free, pageSize, want int64 }{
		{64 * kib, 16 * kib, 100 * mib, 4 * kib, 64 * kib},
		{64 * kib, mib, 100 * mib, 4 * kib, mib},
		{64 * kib, mib, -1, 4 * kib, mib},
		{64 * kib, 100 * mib, 1000 * mib, 4 * kib, 16 * mib},
		{64 * kib, 100 * mib, -1, 4 * kib, 16 * mib},
		{64 * kib, 100 * mib, 16 * mib, 4 * kib, 2 * mib},
		{64 * kib, 100 * mib, 0, 4 * kib, 64 * kib},
		{64 * kib, 100 * mib, 0, mib, mib},
		{32 * mib, 100 * mib, 16 * mib, 4 * kib, 32 * mib},
		{64 * kib, 100 * mib, mib + 8, 4 * kib, 132 * kib},
	} {
		if got := growStep(row.least, row.allocated, row.free, row.pageSize); got != row.want {
			t.Errorf("growStep of %+v = %d", row, got)
		}
	}
}

// TestGrowDuringSnapshot lets transactions run twice while an older one is being read, one of them
// much larger than the file: the database is intact, and the older plants are still readable.
func TestGrowDuringSnapshot(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path)
	plants, random := map[int64]models.Plant{}, rand.New(rand.NewPCG(3, 4)) //nolint:gosec // no secret
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
	s = mustOpen(t, path)
	report, err := s.Check(t.Context(), nil)
	if err != nil || !report.Intact() || report.Plants != int64(len(plants)+200) {
		t.Errorf("%+v, %v, want %d plants", report, err, len(plants)+200)
	}
}
