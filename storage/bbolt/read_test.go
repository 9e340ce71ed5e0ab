package bbolt

import (
	"os"
	"runtime"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/must"
)

// TestCheckCompares checks that Check finds a wrong number of plants.
func TestCheckCompares(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	edit(t, path, func(tx *bolt.Tx) error { return tx.Bucket([]byte(plantsBucket)).SetSequence(11) })
	if report := check(t, path); !strings.Contains(strings.Join(report.Corruption, ""), "should have 11 plants, and has 10") {
		t.Errorf("Check: %+v", report)
	}
}

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	dir := must.Get(os.Open(t.TempDir()))(t)
	if free := freeSpace(dir); free <= 0 {
		t.Errorf("of the temporary directory: %d bytes", free)
	}
	_ = dir.Close()
	if free := freeSpace(dir); runtime.GOOS != "windows" && free >= 0 {
		t.Errorf("of a closed file: %d bytes", free)
	}
}
