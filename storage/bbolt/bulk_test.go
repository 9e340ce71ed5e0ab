package bbolt

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	bolt "go.etcd.io/bbolt"

	"plantstore/internal/plantio"
	"plantstore/models"
	"plantstore/storage"
)

// BenchmarkBulk compares an import of a million plants with the minimum that bbolt needs to
// store the same bytes, in batches of the same size and as durably.
func BenchmarkBulk(b *testing.B) {
	const plants = 1_000_000
	b.Run("bare", func(b *testing.B) { benchBare(b, plants) })
	b.Run("import", func(b *testing.B) { benchImport(b, plants) })
}

// bulkRecord returns a record of a typical size.
func bulkRecord(id int64) storage.Record {
	tag := "succulent"
	return storage.Record{ID: id, Plant: models.Plant{Name: fmt.Sprintf("Echeveria, number %d of the bulk", id), Tag: &tag}}
}

// benchBare stores prepared records.
func benchBare(b *testing.B, plants int) {
	type pair struct{ key, value []byte }
	pairs := make([]pair, plants)
	for i := range pairs {
		key := keyOf(int64(i))
		value, err := encode(keyOf(int64(i)), bulkRecord(int64(i)).Plant)
		if err != nil {
			b.Fatal(err)
		}
		pairs[i] = pair{key, value}
	}
	for b.Loop() {
		db, err := bolt.Open(filepath.Join(b.TempDir(), "bare.db"), filePerm, nil)
		if err != nil {
			b.Fatal(err)
		}
		for start := 0; start < plants; start += batchPlants {
			err := db.Update(func(tx *bolt.Tx) error {
				bucket, err := tx.CreateBucketIfNotExists([]byte(plantsBucket))
				if err != nil {
					return err
				}
				bucket.FillPercent = appendFill
				for _, p := range pairs[start:min(start+batchPlants, plants)] {
					if err := bucket.Put(p.key, p.value); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				b.Fatal(err)
			}
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// benchImport reads, validates and stores them.
func benchImport(b *testing.B, plants int) {
	var text bytes.Buffer
	out := plantio.NewWriter(&text, plantio.JSONLines)
	for i := range plants {
		if err := out.Write(bulkRecord(int64(i))); err != nil {
			b.Fatal(err)
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "plants.jsonl")
	if err := os.WriteFile(path, text.Bytes(), filePerm); err != nil {
		b.Fatal(err)
	}
	text = bytes.Buffer{}
	for b.Loop() {
		importFile(b, path, int64(plants))
	}
}

func importFile(b *testing.B, path string, plants int64) {
	b.Helper()
	file, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	s, err := openStore(storage.Options{}, newPath(b))
	if err != nil {
		b.Fatal(err)
	}
	var sum plantio.Summary
	err = plantio.Import(b.Context(), plantio.NewReader(file, plantio.JSONLines, models.Limits{BodyBytes: 1 << 20}), plantio.Options{Create: s.CreateAll}, &sum)
	if err != nil || sum != (plantio.Summary{Created: plants}) {
		b.Fatalf("Import: %+v, %v", sum, err)
	}
	if err := s.Close(); err != nil {
		b.Fatal(err)
	}
}
