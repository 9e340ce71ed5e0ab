package bbolt

import (
	"os"
	"runtime"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/models"
	"plantstore/storage"
)

// TestPlantsOfOlderStore checks that the plants of a store without a stored number are counted,
// and that the number is stored by the next commit.
func TestPlantsOfOlderStore(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	setNumber(t, path, 0)
	for want := int64(10); want <= 12; want++ {
		s := mustOpen(t, path)
		if n := s.Stats().File.Plants; n != want {
			t.Errorf("%d plants, want %d", n, want)
		}
		if err := s.Create(t.Context(), 1000+want, models.Plant{Name: "a"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCheckCompares checks that Check finds a wrong number of plants.
func TestCheckCompares(t *testing.T) {
	t.Parallel()
	path := newFile(t, 10)
	for number, want := range map[uint64]string{10: "", 11: "should have 11 plants, and has 10", 0: ""} {
		setNumber(t, path, number)
		s, err := openStore(storage.Options{ReadOnly: true}, path)
		if err != nil {
			t.Fatal(err)
		}
		report, err := s.Check(t.Context())
		if err != nil || report.Intact() != (want == "") || !strings.Contains(strings.Join(report.Corruption, ""), want) {
			t.Errorf("with the number %d: %+v, %v, want %q", number, report, err, want)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// setNumber writes a number of plants into a database.
func setNumber(t *testing.T, path string, n uint64) {
	t.Helper()
	db, err := bolt.Open(path, filePerm, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error { return tx.Bucket([]byte(plantsBucket)).SetSequence(n) })
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFreeSpace(t *testing.T) {
	t.Parallel()
	dir, err := os.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if free := freeSpace(dir); free <= 0 {
		t.Errorf("of the temporary directory: %d bytes", free)
	}
	_ = dir.Close()
	if free := freeSpace(dir); runtime.GOOS != "windows" && free >= 0 {
		t.Errorf("of a closed file: %d bytes", free)
	}
}
