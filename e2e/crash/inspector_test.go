package crash

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"plantstore/e2e/internal/plantstore"
	"plantstore/e2e/internal/reexec"
	"plantstore/models"
	"plantstore/storage"
	"plantstore/storage/bbolt"
)

// stored is the number of plants in a [catalogue].
const stored = 400

// catalogue returns the plants in the files that the tests corrupt.
func catalogue() map[int64]models.Plant {
	plants := map[int64]models.Plant{}
	for n := range int64(stored) {
		plant := models.Plant{Name: fmt.Sprintf("plant %d%s", n, strings.Repeat(" long", int(n%9*n%40)))}
		if n%50 == 0 {
			plant.Name = strings.Repeat("longer than a page ", 400)
		}
		if n%2 == 0 {
			tag := fmt.Sprint("tag ", n%10)
			plant.Tag = &tag
		}
		plants[(n-stored/2)<<54+n] = plant
	}
	return plants
}

// A verdict is the result of the inspection of a file.
type verdict struct {
	Refused    string   // reason why the file was not opened
	Corruption []string // findings of the check
	Missing    int      // plants that were not returned
	Wrong      []string // plants that were returned but never stored
	Crash      string   // how the process exited, if it did
}

// reported reports whether the file was refused or has findings.
func (v verdict) reported() bool { return v.Refused != "" || len(v.Corruption) > 0 }

// inspect checks the file path as plantstore check does, and then reads all plants in each
// possible way.
func inspect(path string, plants map[int64]models.Plant) (v verdict) {
	store, err := bbolt.OpenFile(path, storage.Options{ReadOnly: true})
	if err != nil {
		return verdict{Refused: err.Error(), Missing: len(plants)}
	}
	defer func() { _ = store.Close() }()
	ctx := context.Background()
	report, err := store.Check(ctx)
	if err != nil {
		report.Add("the check failed: %v", err)
	}
	v.Corruption = report.Corruption
	for record, err := range store.List(ctx, math.MinInt64) {
		if want, there := plants[record.ID]; err == nil && (!there || !want.Equal(record.Plant)) {
			v.Wrong = append(v.Wrong, fmt.Sprintf("List: %d %.40q", record.ID, record.Plant.Name))
		}
	}
	for id, want := range plants {
		switch got, err := store.Get(ctx, id); {
		case err != nil:
			v.Missing++
		case !want.Equal(got):
			v.Wrong = append(v.Wrong, fmt.Sprintf("Get: %d %.40q", id, got.Name))
		}
	}
	return v
}

// newInspector returns the function inspect for the database in the directory of a server, in another
// process, since a corrupt file could crash it. It lasts until the end of the test.
func newInspector(t testing.TB) func(dir string) verdict {
	t.Helper()
	worker := new(reexec.Worker)
	t.Cleanup(func() { _ = worker.Close() })
	return func(dir string) (v verdict) {
		if err := worker.Inspect(filepath.Join(dir, databaseFile), plantstore.Patience, &v); err != nil {
			return verdict{Crash: fmt.Sprintf("%.300v", err)}
		}
		return v
	}
}
