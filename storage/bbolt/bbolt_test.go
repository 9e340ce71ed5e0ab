package bbolt_test

import (
	"path/filepath"
	"testing"

	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/storagetest"
)

// fresh is the storagetest.Fresh of this engine.
func fresh(t testing.TB) storagetest.Open {
	path := filepath.Join(t.TempDir(), "plants.db")
	return func() (storage.Store, error) { return bbolt.Open(path) }
}

//nolint:paralleltest // the suite looks for goroutines that are left over
func TestStore(t *testing.T) { storagetest.Run(t, fresh) }

func BenchmarkStore(b *testing.B) { storagetest.Benchmark(b, fresh) }
