package bbolt_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"plantstore/storage"
	"plantstore/storage/bbolt"
	"plantstore/storage/bbolt/journal"
	"plantstore/storage/storagetest"
)

// journalSizes are the sizes of the journal with which each test of the suite is run: no
// journal, one with halves that become full all the time, and a large one.
var journalSizes = []int64{0, journal.MinSize, 4 << 20}

// fresh is the storagetest.Fresh of this engine.
func fresh(journalBytes int64) storagetest.Fresh {
	return func(t testing.TB) storagetest.Open {
		path := filepath.Join(t.TempDir(), "plants.db")
		return func() (storagetest.Store, error) {
			return bbolt.OpenFile(path, storage.Options{JournalBytes: journalBytes})
		}
	}
}

//nolint:paralleltest // the suite checks for leaked goroutines
func TestStore(t *testing.T) {
	for _, size := range journalSizes {
		t.Run(fmt.Sprint("journal=", size), func(t *testing.T) { storagetest.Run(t, fresh(size)) })
	}
}
