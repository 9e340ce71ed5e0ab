package bbolt_test

import (
	"path/filepath"
	"testing"

	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/storagetest"
)

//nolint:paralleltest // the suite checks for leaked goroutines
func TestStore(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) storagetest.Open {
		path := filepath.Join(t.TempDir(), "plants.db")
		return func() (storagetest.Store, error) { return bbolt.OpenFile(path, storage.Options{}) }
	})
}
