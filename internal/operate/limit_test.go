package operate_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/internal/must"
	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// TestLimit checks that a server refuses the plants beyond its limit and accepts the others.
func TestLimit(t *testing.T) {
	t.Parallel()
	const limit = 1000
	store := must.Get(bbolt.OpenFile(filepath.Join(t.TempDir(), "plants.db"), storage.Options{}))(t)
	t.Cleanup(func() { must.Do(t, store.Close()) })
	client, _ := dial(t, store, limit)
	fits := limit - len(`{"id":1,"name":""}`)
	lengths := []int{0, fits, fits + 1, 1, 5 << 20, 2, 9 << 20, fits}
	var records []storage.Record
	for id, length := range lengths {
		records = append(records, storage.Record{ID: int64(id), Plant: models.Plant{Name: strings.Repeat("x", length)}})
	}
	outcomes := client.CreateAll(t.Context(), records)
	if len(outcomes) != len(records) {
		t.Fatalf("%d outcomes of %d", len(outcomes), len(records))
	}
	for i, err := range outcomes {
		tooLarge := lengths[i] > fits
		if errors.Is(err, plantio.ErrRefused) != tooLarge || !tooLarge && err != nil {
			t.Errorf("create of %d bytes: %v", lengths[i], err)
		}
		if _, err := store.Get(t.Context(), int64(i)); errors.Is(err, storage.ErrNotFound) != tooLarge {
			t.Errorf("the plant of %d bytes: %v", lengths[i], err)
		}
	}
}
